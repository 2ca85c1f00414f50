// examples.go - for each row of the rules about Go a function in which it finds a place, marked at the end of its
// line, and for each rule one in which the same call or construct is harmless.
package examples

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

type Node struct {
	Next, Child *Node
	Label       string
	Size        int
}

type Box struct {
	Left, Right int
}

type Queue struct {
	mutex sync.Mutex
	jobs  []string
}

// ---- bounds and numbers ----

func dayName(names []string, day int) string {
	return names[day] // FIRES missing-bounds-check/index
}

func secondOf(pair string) string {
	parts := strings.Split(pair, ":")
	return parts[1] // FIRES missing-bounds-check/part-taken missing-null-check/result-of-any
}

func domainOf(address string) string {
	parts := strings.Split(address, "@")
	return parts[1] // FIRES missing-bounds-check/part-taken missing-null-check/result-of-any
}

func partCountedBefore(address string) string {
	parts := strings.Split(address, "@")
	n := len(parts)
	if n < 2 {
		return ""
	}
	return parts[1] // FIRES missing-bounds-check/part missing-null-check/result-of-any
}

func partsOfEnvironment() map[string]string {
	all := map[string]string{}
	for _, entry := range os.Environ() {
		parts := strings.SplitN(entry, "=", 2)
		all["last"] = parts[1] // FIRES missing-bounds-check/part missing-null-check/result-of-any
	}
	return all
}

func inputName() string {
	return os.Args[1] // FIRES missing-bounds-check/arguments
}

func quiet_missing_bounds_check_part(address string) string {
	parts := strings.Split(address, "@")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func readDigits(in *bytes.Buffer, digits []byte) {
	at := 0
	for more(in) {
		digits[at] = next(in) // FIRES missing-bounds-check/index-loop
		at++
	}
}

func quiet_missing_bounds_check(names []string, day int) string {
	if day < 0 || day >= len(names) {
		return ""
	}
	return names[day]
}

func total(prices []int, count int) int {
	sum := 0
	for i := 0; i <= count; i++ { // FIRES off-by-one/at-most
		sum += prices[i]
	}
	return sum
}

func seek(buffer *bytes.Reader, data []byte) int {
	at := position(buffer)
	if at > len(data) { // FIRES off-by-one/more-size
		return -1
	}
	return byteAt(data, at)
}

func advance(buffer *bytes.Reader, limit int) int {
	at := position(buffer)
	if at > limit { // FIRES off-by-one/more
		return -1
	}
	return at
}

func quiet_off_by_one(prices []int, count int) int {
	sum := 0
	for i := 0; i < count; i++ {
		sum += prices[i]
	}
	return sum
}

func makeTable(rows, columns int) []int {
	return make([]int, rows*columns) // FIRES integer-overflow/size
}

func makeImage(width int, height int) *Image {
	size := width * height // FIRES integer-overflow/kept
	return newImage(size)
}

func quiet_integer_overflow(rows int) []int {
	return make([]int, rows)
}

func mean(sum, count int) int {
	return sum / count // FIRES division-by-zero/divisor
}

func mean(values []int, sum int) int {
	return sum / len(values) // FIRES division-by-zero/count
}

func quiet_division_by_zero_result(values []int, sum int) int {
	if len(values) == 0 {
		return 0
	}
	return sum / len(values)
}

func quiet_division_by_zero(sum, count int) int {
	if count == 0 {
		return 0
	}
	return sum/count + sum/2
}

// ---- texts ----

func findUser(db Database, name string) *sql.Row {
	return db.QueryRow("select id from users where name = '" + name + "'") // FIRES sql-injection/quoted
}

func findOrder(db Database, ctx context.Context, name string) *sql.Row {
	return db.QueryRowContext(ctx, "select id from orders where name = '"+name+"'") // FIRES sql-injection/context
}

func findItem(db Database, name string) *sql.Row {
	return db.QueryRow(fmt.Sprintf("select id from items where name = '%s'", name)) // FIRES sql-injection/quoted
}

func findPart(db Database, name string) *sql.Row {
	statement := fmt.Sprintf("select id from parts where name = '%s'", name)
	return db.QueryRow(statement) // FIRES sql-injection/quoted
}

func usersBy(column string) string {
	statement := "SELECT name FROM users ORDER BY " + column // FIRES sql-injection/text
	return statement
}

func quiet_sql_injection_text(name string) string {
	line := "Select a user, or write " + name
	return line
}

func quiet_sql_injection(db Database, name string) *sql.Row {
	return db.QueryRow("select id from users where name = ?", name)
}

func archive(folder string) error {
	return exec.Command("sh", "-c", "tar cf backup.tar "+folder).Run() // FIRES missing-null-check/result-of-call shell-injection/command
}

func quiet_shell_injection(folder string) error {
	return exec.Command("tar", "cf", "backup.tar", folder).Run() // FIRES missing-null-check/result-of-call
}

func readPage(name string) ([]byte, error) {
	return os.ReadFile("pages/" + name) // FIRES path-traversal/joined
}

func fileOf(root string, r *http.Request) string {
	return filepath.Join(root, r.URL.Path) // FIRES missing-null-check/chain path-traversal/second
}

func removeUpload(r *http.Request) error {
	name := r.FormValue("name")
	return os.Remove(name) // FIRES path-traversal/request
}

// The name of an uploaded file has no folders.
func quiet_path_traversal_uploaded(r *http.Request) error {
	_, header, err := r.FormFile("file")
	if err != nil {
		return err
	}
	name := header.Filename // FIRES missing-null-check/result-of-any
	return os.Remove(name)
}

func quiet_path_traversal() ([]byte, error) {
	return os.ReadFile(filepath.Join("pages", "index.html"))
}

func greeting(name string) template.HTML {
	return template.HTML("<b>Hello " + name + "</b>") // FIRES unescaped-output/call
}

func greet(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "<b>Hello %s</b>", r.URL.Path) // FIRES missing-null-check/chain unescaped-output/request
}

func quiet_unescaped_output() template.HTML {
	return template.HTML("<b>Hello</b>")
}

// ---- resources ----

func goodbye(socket Socket) {
	socket.Close()
	socket.Send("bye") // FIRES use-after-free/closed
}

func quiet_use_after_free(socket Socket) {
	socket.Send("bye")
	socket.Close()
}

func quiet_resource_leak_fatal() error {
	file, err := os.Open("/etc/motd")
	if err != nil {
		return err
	}
	if _, err = file.Write(nil); err != nil { // FIRES missing-null-check/result-of-any
		log.Fatalf("cannot write: %v", err)
		return err
	}
	return file.Close()
}

func firstBytes(size int) ([]byte, error) {
	file, err := os.Open("/etc/motd") // FIRES resource-leak/file
	if err != nil {
		return nil, err
	}
	line := make([]byte, size)
	fill(file, line)
	return line, nil
}

func firstPart(store Store, size int) ([]byte, error) {
	part, err := store.Open("first") // FIRES resource-leak/opened-named
	if err != nil {
		return nil, err
	}
	line := make([]byte, size)
	fill(part, line)
	return line, nil
}

func quiet_resource_leak_body(client *http.Client, request *http.Request) ([]byte, error) {
	res, err := client.Do(request) // FIRES missing-null-check/parameter
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // FIRES missing-null-check/result-of-any
	return io.ReadAll(res.Body)
}

func quiet_resource_leak_deferred(size int) ([]byte, error) {
	file, err := os.Open("/etc/motd")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // FIRES missing-null-check/result-of-any
	line := make([]byte, size)
	fill(file, line)
	return line, nil
}

func quiet_resource_leak(size int) ([]byte, error) {
	file, err := os.Open("/etc/motd")
	if err != nil {
		return nil, err
	}
	defer file.Close() // FIRES missing-null-check/result-of-any
	line := make([]byte, size)
	fill(file, line)
	return line, nil
}

// ---- values that may be absent ----

func flagValue(flags FlagSet) string {
	flag := flags.Lookup("verbose")
	return flag.Value // FIRES missing-null-check/result
}

func titleOf(page *Node) string {
	title := page.Label // FIRES missing-null-check/used-first
	if page == nil {
		return ""
	}
	return title
}

func childLabel(node Node) string {
	if node.Child == nil {
		return ""
	}
	return node.Child.Label
}

func isLeaf(node Node) bool {
	return node.Child == nil
}

func childLabels(node Node) string {
	return node.Child.Label + "s" // FIRES missing-null-check/field
}

func nextLabel(node Node) string {
	if node.Next != nil {
		return node.Next.Label
	}
	return ""
}

func skipOne(node Node) {
	node.Label = node.Next.Label // FIRES missing-null-check/field-sometimes
}

func skipTwo(node Node) {
	node.Size = node.Next.Size // FIRES missing-null-check/field-sometimes
}

func sizeOf(box *Box) int {
	return box.Right - box.Left // FIRES missing-null-check/parameter
}

func labelOf(node *Node, isLong bool) string {
	text := ""
	if node != nil {
		text = "node"
	}
	if isLong {
		text += node.Label // FIRES missing-null-check/other-branch
	}
	return text
}

func resetLabel() string {
	var node *Node = nil
	return node.Label // FIRES missing-null-check/null
}

func quiet_missing_null_check(flags FlagSet) string {
	flag := flags.Lookup("verbose")
	if flag == nil {
		return ""
	}
	return flag.Value
}

func ownerName(account *Account) string {
	if account == nil {
		return account.Owner // FIRES inverted-condition/null-branch
	}
	return ""
}

func quiet_inverted_condition(account *Account) string {
	if account != nil {
		return account.Owner
	}
	return ""
}

// ---- order ----

func resize(width int, height int) int {
	return areaOf(width, height)
}

func turn(width, height int) int {
	return resize(height, width) // FIRES swapped-arguments/both
}

func turnWide(height, limit int) int {
	return resize(height, limit) // FIRES swapped-arguments/names
}

func quiet_swapped_arguments(width, height int) int {
	return resize(width, height)
}

func copyBox(target, source *Box) {
	if source == nil || target == nil {
		return
	}
	target.Left = source.Left
	target.Right = source.Left // FIRES copied-block/stayed
}

func resetBox(target *Box, left int) {
	if target == nil {
		return
	}
	target.left = left
	target.top = left // FIRES copied-block/name
}

func quiet_copied_block(target, source *Box) {
	if source == nil || target == nil {
		return
	}
	target.Left = source.Left
	target.Right = source.Right
}

func removeCache() error {
	file := cacheFile()
	if _, err := os.Stat(file); err != nil {
		return err
	}
	return os.Remove(file) // FIRES check-use-race/path
}

func openCache() (*os.File, error) {
	file := cacheFile()
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	return os.Open(file) // FIRES check-use-race/state
}

func putInPlace() error {
	if err := os.Remove(liveFile); err != nil { // FIRES check-use-race/replaced
		return err
	}
	return os.Rename(freshFile, liveFile)
}

func quiet_check_use_race() error {
	file := cacheFile()
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (q *Queue) takeJob() string {
	q.mutex.Lock() // FIRES missing-null-check/chain missing-unlock/one-way
	if len(q.jobs) == 0 {
		return ""
	}
	job := nextJob(q.jobs)
	q.mutex.Unlock()
	return job
}

func (q *Queue) takeAll() {
	q.mutex.Lock() // FIRES missing-unlock/path missing-null-check/chain
	useJobs(q.jobs)
}

func (q *Queue) dropJob() {
	q.mutex.Lock() // FIRES missing-null-check/chain
	dropFirst(q.jobs)
	q.mutex.Lock() // FIRES missing-unlock/twice
	q.mutex.Unlock()
}

func (q *Queue) quiet_missing_unlock() string {
	q.mutex.Lock() // FIRES missing-null-check/chain
	defer q.mutex.Unlock()
	if len(q.jobs) == 0 {
		return ""
	}
	return nextJob(q.jobs)
}

// ---- results and errors ----

func syncFirst(q *Queue) int {
	if syncQueue(q) != nil {
		return -1
	}
	return 0
}

func syncSecond(q *Queue) int {
	if syncQueue(q) != nil {
		return -2
	}
	return 0
}

func syncThird(q *Queue) {
	syncQueue(q) // FIRES unchecked-return/elsewhere
}

func loadBoth(first, second string) error {
	err := loadPlugin(first) // FIRES unchecked-return/overwritten
	err = loadPlugin(second)
	return err
}

func quiet_unchecked_return(first, second string) error {
	err := loadPlugin(first)
	if err != nil {
		return err
	}
	return loadPlugin(second)
}

func saveAll(file *os.File) {
	file.Sync() // FIRES missing-null-check/parameter unchecked-return/dropped
}

func portOf(text string) int {
	port, _ := strconv.Atoi(text) // FIRES error-swallowed/blank
	return port
}

func quiet_error_swallowed(text string) int {
	port, err := strconv.Atoi(text)
	if err != nil {
		return 8080
	}
	return port
}

// ---- secrets ----

func connect() Database {
	password := "hunter2-9f8b" // FIRES hardcoded-secret/assigned
	return openDatabase(password)
}

func guest() Account {
	return Account{Name: "guest", Password: "hunter2-9f8b"} // FIRES hardcoded-secret/member
}

func quiet_hardcoded_secret_member(given string) Account {
	return Account{Name: "guest", Password: given, TokenFile: "tokens"}
}

func quiet_hardcoded_secret() Database {
	password := os.Getenv("DB_PASSWORD")
	return openDatabase(password)
}

func digest(text []byte) []byte {
	sum := md5.Sum(text) // FIRES weak-hash/call
	return sum[:]
}

func quiet_weak_hash(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:]
}

func quiet_missing_null_check_made(n int) *gauge {
	g := new(gauge)
	g.level = n
	return g
}

// ---- texts that the program itself puts together, and what a request says ----

func findOwnUser(db Database) *sql.Row {
	return db.QueryRow("select id from users where name = '" + ownName() + "'") // FIRES sql-injection/joined
}

func findOwnItem(db Database) *sql.Row {
	return db.QueryRow(fmt.Sprintf("select id from items where name = '%s'", ownName())) // FIRES sql-injection/filled
}

func findOwnPart(db Database) *sql.Row {
	statement := fmt.Sprintf("select id from parts where name = '%s'", ownName())
	return db.QueryRow(statement) // FIRES sql-injection/made
}

func findShelf(db Database, shelf string) *sql.Row {
	return db.QueryRow("select id from shelves where code=" + shelf) // FIRES sql-injection/compared
}

func sortedUsers(db Database, r *http.Request) *sql.Row {
	return db.QueryRow("SELECT name FROM users ORDER BY " + r.FormValue("order")) // FIRES sql-injection/request
}

func quiet_sql_injection_number(db Database, shelf int) *sql.Row {
	return db.QueryRow("select id from shelves where code = ?", strconv.Itoa(shelf))
}

func removeNear(folder string) error {
	name := filepath.Join(folder, "notes.txt")
	return os.Remove(name) // FIRES path-traversal/made
}

func moveUpload(r *http.Request) error {
	return os.Rename(temporaryFile(), "uploads/"+r.FormValue("name")) // FIRES path-traversal/request
}

func quiet_path_traversal_own() error {
	name := filepath.Join(ownFolder(), "notes.txt")
	return os.Remove(name)
}

func connectPlain() Database {
	password := "opensesame" // FIRES hardcoded-secret/plain
	return openDatabase(password)
}

func plainGuest() Account {
	return Account{Name: "guest", Password: "opensesame"} // FIRES hardcoded-secret/plain-member
}

func keepPassword(user User, password string) {
	user.Keep(md5.Sum([]byte(password))) // FIRES weak-hash/password
}

func markOf(body []byte) [20]byte {
	return sha1.Sum(append(secretKey, body...)) // FIRES weak-hash/secret
}

func newToken() int {
	return rand.Intn(1000000) // FIRES weak-hash/guessed
}

func quiet_weak_hash_etag(text []byte) [16]byte {
	etag := md5.Sum(text)
	return etag
}

func shelvesBy(builder Builder, column string) Builder {
	return builder.Order("shelf_" + column) // FIRES sql-injection/clause
}

func quiet_sql_injection_process(name string) error {
	return process.Exec("set the name of "+name, "git", "config")
}

func usersNamed(name string) string {
	statement := "SELECT id FROM users WHERE name = '" + name + "'" // FIRES sql-injection/text-quoted
	return statement
}

// ---- values that are there, or seem to be ----

func labelIf(page *Node, isLong bool) string {
	label := ""
	if isLong {
		label = page.Label // FIRES missing-null-check/later
	}
	if page == nil {
		return ""
	}
	return label
}

func fetch(address string) Request {
	request, _ := http.NewRequest("GET", address, nil) // FIRES error-swallowed/blank-used
	return request
}

func save(data []byte) {
	_ = os.WriteFile("state.json", data, 0o600) // FIRES error-swallowed/blank-write
}

func quiet_error_swallowed_kept(file *os.File, text string) error {
	_, err := file.WriteString(text) // FIRES missing-null-check/parameter
	return err
}

func quiet_unchecked_return_cases(kind int) error {
	var err error
	switch kind {
	case 1:
		err = loadPlugin("first")
	case 2:
		err = loadPlugin("second")
	}
	return err
}

func weightOfAll() int {
	weight := 0
	a := peer(1)
	if a != nil {
		weight += a.weight
	}
	b := peer(2)
	if b != nil {
		weight += b.weight
	}
	c := peer(3)
	if c != nil {
		weight += c.weight
	}
	d := peer(4)
	if d != nil {
		weight += d.weight
	}
	e := peer(5)
	return weight + e.weight // FIRES missing-null-check/looked-up
}

func secretOf(line string) string {
	return strings.Split(line, ":")[1] // FIRES missing-bounds-check/part-at-once
}

func secondOf(line string) string {
	parts := strings.Split(line, " ")
	switch {
	case len(parts) < 2, parts[1] == "": // FIRES missing-bounds-check/part missing-null-check/result-of-any
		return ""
	default:
		return parts[0]
	}
}

func hasThree(s string) bool {
	for i := 0; i <= len(s)-3; i++ { // FIRES off-by-one/at-most
		if s[i] == s[i+1] && s[i+1] == s[i+2] {
			return true
		}
	}
	return false
}

func quiet_missing_bounds_check_secret(line string) string {
	if !strings.Contains(line, ":") {
		return ""
	}
	return strings.Split(line, ":")[1]
}

func secondOf(line string) string {
	if line != "" {
		parts := strings.Split(line, ":")
		return parts[1] // FIRES missing-bounds-check/part missing-null-check/result-of-any
	}
	return ""
}

func slotOf(text string, slots []int) int {
	at, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return slots[at] // FIRES missing-bounds-check/index-input
}

func quiet_missing_bounds_check_slot(text string, slots []int) int {
	at, err := strconv.Atoi(text)
	if err != nil || at < 0 || at >= len(slots) {
		return 0
	}
	return slots[at]
}

func sumAll(prices []int, sum int) int {
	for i := 0; i <= len(prices); i++ { // FIRES off-by-one/behind
		sum += prices[i]
	}
	return sum
}

func quiet_off_by_one_all(prices []int, sum int) int {
	for i := 0; i < len(prices); i++ {
		sum += prices[i]
	}
	return sum
}

func meanKept(values []int, sum int) int {
	n := len(values)
	return sum / n // FIRES division-by-zero/count-kept
}

func quiet_division_by_zero_kept(values []int, sum int) int {
	n := len(values)
	if n == 0 {
		return 0
	}
	return sum / n
}

func perUnit(sum int, values []int) int {
	return sum / unitsOf(values) // FIRES division-by-zero/result
}

func markAt(marks []int, at int) int {
	if at > len(marks) { // FIRES off-by-one/more-own
		return 0
	}
	return marks[at]
}

func firstOwner(store *store) string {
	owners, err := store.owners() // FIRES missing-null-check/parameter
	if err != nil {
		return ""
	}
	return owners[0] // FIRES missing-bounds-check/first-of missing-null-check/result-of-any
}

func quiet_missing_bounds_check_first(store *store) string {
	owners, err := store.owners() // FIRES missing-null-check/parameter
	if err != nil || len(owners) == 0 {
		return ""
	}
	return owners[0]
}

// A result with a name is returned by a return without a value, and what a deferred function puts into it, too.
func quiet_unchecked_return_named(store *store) (err error) {
	store.name, err = store.save() // FIRES missing-null-check/parameter
	return
}

func quiet_unchecked_return_alone(store *store) (err error) {
	err = store.save() // FIRES missing-null-check/parameter
	return
}

func quiet_unchecked_return_deferred(store *store) (err error) {
	defer func() {
		err = store.save() // FIRES missing-null-check/parameter
	}()
	return nil
}

// A := in the header of an if declares another variable: the outer one is still returned.
func quietUncheckedReturnShadow(path string) (int, error) {
	n, err := readSize(path)
	if err := check(path); err != nil {
		return 0, err
	}
	return n, err
}

// A start value is no error of a call, and what a member keeps is for others to read.
func quiet_unchecked_return_start(kind int) error {
	err := errors.New("unknown kind")
	switch kind {
	case 1:
		err = loadPlugin("first")
	}
	return err
}

func (b *builder) quiet_unchecked_return_member(name string) {
	b.err = loadPlugin(name)
}

// The program ends with the last call of the chain, which has read the error.
func quiet_unchecked_return_chain(name string) {
	err := loadPlugin(name)
	log.Fatal(). // FIRES missing-null-check/result-of-call
		Err(err).
		Msg("no plugin")
}

func quiet_missing_bounds_check_key(text string, names map[int]string) string {
	at, err := strconv.Atoi(text)
	if err != nil {
		return ""
	}
	return names[at]
}

type marks struct {
	names map[int]string
	list  []string
}

func (m *marks) quiet_missing_bounds_check_member(text string) string {
	at, err := strconv.Atoi(text)
	if err != nil {
		return ""
	}
	found := make(map[int]string)
	return m.names[at] + found[at] // FIRES missing-null-check/chain
}

func (m *marks) nameOf(text string) string {
	at, err := strconv.Atoi(text)
	if err != nil {
		return ""
	}
	return m.list[at] // FIRES missing-bounds-check/index-input missing-null-check/chain
}

// ---- what the program makes itself ----

type store struct {
	tableName string
}

var orders = map[string]string{"name": "name", "age": "born DESC"}

func (s *store) quiet_sql_injection_table(db *sql.DB, b Builder) (*sql.Rows, error) {
	b.Where("id not in (select id from " + s.tableName + ")")
	return db.Query("SELECT id FROM " + s.tableName) // FIRES missing-null-check/parameter
}

func (s *store) shelfOf(b Builder, name string) Builder {
	return b.Where(s.tableName + ".name = '" + name + "'") // FIRES sql-injection/clause
}

func quiet_sql_injection_order(b Builder, isDown bool) Builder {
	var order string
	if isDown {
		order = " DESC"
	}
	return b.OrderBy("made" + order + ", name" + order + ", age" + order + ", id" + order + ", size" + order)
}

func orderOf(b Builder, isDown bool, column string) Builder {
	order := "made"
	if isDown {
		order = column
	}
	return b.OrderBy(order + " DESC") // FIRES sql-injection/clause
}

func quiet_sql_injection_listed(b Builder, key string) Builder {
	return b.OrderBy(orders[key] + " DESC")
}

func orderByAll(b Builder, keys []string) {
	for _, key := range keys {
		b.OrderBy(key + " DESC") // FIRES sql-injection/clause
	}
}

func quiet_sql_injection_inner(b Builder, inner Builder) (Builder, error) {
	text, values, err := inner.ToSql()
	if err != nil {
		return b, err
	}
	return b.Where("pid in ("+text+")", values...), nil
}

func whereColumn(b Builder, key string, value string) Builder {
	return b.Where(key+" = ? and owner = 1", value) // FIRES sql-injection/clause-column
}

func whereListed(b Builder, ids []string) Builder {
	clause := "id IN ('" + strings.Join(ids, "','") + "')"
	return b.Where(clause) // FIRES sql-injection/clause-list
}

func quiet_error_swallowed_fixed(key string) *http.Request {
	request, _ := http.NewRequest(http.MethodGet, "https://example.org/"+url.PathEscape(key), nil)
	return request
}

func fetchKey(key string) *http.Request {
	request, _ := http.NewRequest(http.MethodGet, "https://example.org/"+key, nil) // FIRES error-swallowed/blank-used
	return request
}

func requestOf(address string) *http.Request {
	return quiet_error_swallowed_callers("https://example.org/first")
}

func quiet_error_swallowed_callers(address string) *http.Request {
	request, _ := http.NewRequest("GET", address, nil)
	return request
}

func quiet_error_swallowed_copy(from any) (to map[string]any) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil
	}
	_ = json.Unmarshal(text, &to)
	return to
}

func keyOf(name string) (string, error) {
	key := cacheKey{Name: name}
	text, err := json.Marshal(&key)
	return string(text), err
}

func nameOf(text string) string {
	var key cacheKey
	_ = json.Unmarshal([]byte(text), &key) // FIRES error-swallowed/blank-kept
	return key.Name
}

func quiet_missing_bounds_check_uuid() string {
	parts := strings.Split(uuid.NewString(), "-")
	return parts[4] // FIRES missing-null-check/result-of-any
}

func quiet_missing_bounds_check_day() string {
	parts := strings.Split(time.Now().Format("2006-01-02"), "-") // FIRES missing-null-check/result-of-call
	return parts[2] // FIRES missing-null-check/result-of-any
}

// ---- errors that are seen all the same ----

func quiet_unchecked_return_deferred(kind int) {
	var err error
	defer func() {
		if err != nil {
			log.Print(err)
		}
	}()
	switch kind {
	case 1:
		err = loadPlugin("first")
	case 2:
		err = loadPlugin("second")
	}
}

func loadPutOff(kind int) {
	var err error
	defer func() {
		if err != nil {
			log.Print(err)
		}
	}()
	err = loadPlugin("first") // FIRES unchecked-return/overwritten
	err = loadPlugin("second")
}

func quiet_unchecked_return_other(name string) error {
	var err error
	var info os.FileInfo
	info, err = os.Lstat(name)
	if info != nil {
		err = loadPlugin(name)
	}
	return err
}

func loadKnown(name string) error {
	known, err := findPlugin(name) // FIRES unchecked-return/overwritten-other
	if known == nil {
		return nil
	}
	err = loadPlugin(name)
	return err
}

func quiet_unchecked_return_inside(name string) (*Plugin, error) {
	var plugin *Plugin
	var err error
	failed := within(func() error {
		plugin, err = findPlugin(name)
		return nil
	})
	if failed != nil {
		return nil, failed
	}
	return plugin, err
}

func loadInside(name string) error {
	var err error
	failed := within(func() error {
		err = loadPlugin(name) // FIRES unchecked-return/overwritten
		return nil
	})
	if failed != nil {
		return failed
	}
	return nil
}

func loadAfter(first, second string) error {
	err := loadPlugin(first) // FIRES unchecked-return/overwritten-way
	if second != "" {
		err = loadPlugin(second)
		if err != nil {
			return err
		}
	}
	return err
}

// ---- passwords that are there for a while, or that another side asks for ----

func firstAccount(accounts []Account) Account {
	if len(accounts) == 0 {
		return Account{Name: "owner", Password: "opensesame"} // FIRES hardcoded-secret/first-member
	}
	return accounts[0]
}

func quiet_hardcoded_secret_asked(accounts []Account, password string) Account {
	if len(accounts) == 0 {
		return Account{Name: "owner", Password: password}
	}
	return accounts[0]
}

func encodedBy(scheme string, password string) [16]byte {
	switch scheme {
	case "MD5":
		return md5.Sum([]byte(password)) // FIRES weak-hash/password-named
	}
	return slowHash(password)
}

func isAnswer(password string, nonce string, token string) bool {
	expected := fmt.Sprintf("%x", md5.Sum([]byte(password+nonce))) // FIRES weak-hash/password-answer
	return expected == token
}

func quiet_weak_hash_scheme(scheme string, password string) [16]byte {
	if scheme == "BCRYPT" {
		return slowHash(password)
	}
	return [16]byte{}
}

// ---- and what only looks so ----

func noteOf(text string) string {
	var note Note
	_ = json.Unmarshal([]byte(text), &note) // FIRES error-swallowed/blank-write
	return note.Text
}

func loadThrice(first, second string) error {
	err := loadPlugin(first) // FIRES unchecked-return/overwritten
	if second != "" {
		err = loadPlugin(second)
		if err != nil {
			return err
		}
	}
	err = loadPlugin("last")
	return err
}

func accountOf(password string) Account {
	if len(password) == 0 {
		return Account{Name: "owner", Password: "opensesame"} // FIRES hardcoded-secret/plain-member
	}
	return Account{Name: "owner", Password: password}
}

func keepSalted(user *User, password string, salt string) {
	hashed := fmt.Sprintf("%x", md5.Sum([]byte(password+salt))) // FIRES weak-hash/password
	user.Keep(hashed) // FIRES missing-null-check/parameter
}

func orderGiven(b Builder, isPlain bool, column string) Builder {
	order := column
	if isPlain {
		order = "made"
	}
	return b.OrderBy(order + " DESC") // FIRES sql-injection/clause
}

func keepOld(user User, isOld bool, password string) {
	if isOld {
		user.Keep(md5.Sum([]byte(password))) // FIRES weak-hash/password
	}
}

func sizeOf(name string) int64 {
	info, _ := os.Stat(name) // FIRES error-swallowed/blank-used
	return info.Size() // FIRES missing-null-check/result-of-any
}

func quiet_error_swallowed_existence(name string) bool {
	info, _ := os.Stat(name)
	return info != nil
}

func quiet_error_swallowed_asking(name string) string {
	address, _ := url.Parse(name)
	return hostOf(address)
}

func hostOf(address *url.URL) string {
	if address == nil {
		return ""
	}
	return address.Host
}

func quiet_error_swallowed_explained(first string, second string) *url.URL {
	// Errors are handled in chosen.
	one, _ := url.Parse(first)
	other, _ := url.Parse(second)
	show(first)
	third, _ := url.Parse(first + second)
	return chosen(one, other, third)
}

func parsedOld(first string, second string) *url.URL {
	// one, _ := url.Parse("error")
	one, _ := url.Parse(first) // FIRES error-swallowed/blank-used
	return one
}

func quiet_error_swallowed_beside(name string) *url.URL {
	address, _ := url.Parse(name) // ignored: the name was tested
	return address
}

func parsedBoth(first string, second string) *url.URL {
	// The second one is for guests.
	one, _ := url.Parse(first) // FIRES error-swallowed/blank-used
	other, _ := url.Parse(second)
	return chosen(one, other)
}

func quiet_weak_hash_fever(user *User, name string, password string) {
	user.feverToken = fmt.Sprintf("%x", md5.Sum([]byte(name+":"+password))) // FIRES missing-null-check/parameter
}

func sessionOf(user *User, name string, password string) {
	user.sessionToken = fmt.Sprintf("%x", md5.Sum([]byte(name+":"+password))) // FIRES missing-null-check/parameter weak-hash/password
}

func quiet_weak_hash_rights_of_token() Token {
	return Token{Id: safeText(30), Rights: rightsOf(rand.Intn(511))}
}

func tokenOfMany() Token {
	return Token{Id: rand.Intn(511), Rights: 1} // FIRES weak-hash/guessed
}

func countOpened(store *Store) (int, error) {
	part, err := store.Open("second") // FIRES resource-leak/opened // FIRES missing-null-check/parameter
	if err != nil {
		return 0, err
	}
	n, err := part.Count() // FIRES missing-null-check/result-of-any
	if err != nil {
		return 0, err
	}
	part.Close()
	return n, nil
}
