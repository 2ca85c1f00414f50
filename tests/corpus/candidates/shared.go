package shared

import (
	"errors"
	"net/http"
	"os"
	"sync"
)

// What is shared without a lock, lost on a way out, or kept by a loop for itself.

type Board struct {
	mu     sync.Mutex
	scores map[string]int
	marks  map[string]int
}

func (b *Board) Put(name string, score int) {
	b.mu.Lock() // FIRES missing-null-check/chain
	defer b.mu.Unlock()
	b.scores[name] = score
	b.marks[name] = score
}

func (b *Board) Count(name string) int {
	b.mu.Lock() // FIRES missing-null-check/chain
	defer b.mu.Unlock()
	return b.scores[name] + b.marks[name]
}

func (b *Board) Drop(name string) {
	delete(b.scores, name) // FIRES missing-lock/unlocked
}

func (b *Board) quiet_missing_lock_drop(name string) {
	b.mu.Lock() // FIRES missing-null-check/chain
	defer b.mu.Unlock()
	b.forget(name)
}

func (b *Board) forget(name string) {
	delete(b.marks, name)
}

func gather(names []string, load func(string) int) map[string]int {
	found := make(map[string]int)
	var group sync.WaitGroup
	for _, name := range names {
		group.Add(1)
		go func(name string) {
			defer group.Done()
			found[name] = load(name) // FIRES missing-lock/goroutines
		}(name)
	}
	group.Wait()
	return found
}

func quiet_missing_lock_gather(names []string, load func(string) int) map[string]int {
	found := make(map[string]int)
	sizes := make([]int, len(names))
	var mu sync.Mutex
	var group sync.WaitGroup
	for i, name := range names {
		group.Add(1)
		go func(i int, name string) {
			defer group.Done()
			sizes[i] = load(name) // FIRES missing-bounds-check/index
			mu.Lock()
			found[name] = sizes[i]
			mu.Unlock()
		}(i, name)
	}
	group.Wait()
	return found
}

type image struct {
	file *os.File
}

var errKind = errors.New("kind")

func openImage(known bool) (*image, error) {
	file, err := os.Open("image.bin") // FIRES resource-leak/lost-way
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, errKind
	}
	return &image{file: file}, nil
}

func quiet_resource_leak_image(known bool) (*image, error) {
	file, err := os.Open("image.bin")
	if err != nil {
		return nil, err
	}
	if !known {
		file.Close() // FIRES missing-null-check/result-of-any
		return nil, errKind
	}
	return &image{file: file}, nil
}

func isUp() bool {
	answer, err := http.Get("http://localhost/state") // FIRES resource-leak/answer
	if err != nil {
		return false
	}
	return answer.StatusCode == http.StatusOK // FIRES missing-null-check/result
}

func quiet_resource_leak_answer() bool {
	answer, err := http.Get("http://localhost/state")
	if err != nil {
		return false
	}
	defer answer.Body.Close() // FIRES missing-null-check/result
	return answer.StatusCode == http.StatusOK
}

func copyAll(names []string, load func(string) (int, error)) (int, error) {
	all, err := load("")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := load(name) // FIRES error-swallowed/shadowed
		if err != nil {
			break
		}
		all += n
	}
	if err != nil {
		return 0, err
	}
	return all, nil
}

func quiet_error_swallowed_loop(names []string, load func(string) (int, error)) (int, error) {
	all, err := load("")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		var n int
		n, err = load(name)
		if err != nil {
			break
		}
		all += n
	}
	if err != nil {
		return 0, err
	}
	return all, nil
}

func listenAt(name string, mode string) (net.Listener, error) {
	listener, err := net.Listen("unix", name) // FIRES resource-leak/lost-listener
	if err != nil {
		return nil, err
	}
	if mode == "" {
		return nil, errKind
	}
	return listener, nil
}

func quiet_resource_leak_gone(open func() (*os.File, error)) (*image, error) {
	file, err := open()
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, errKind
	}
	return &image{file: file}, nil
}

func quiet_resource_leak_transaction(tx *sql.Tx) error {
	rows, err := tx.Query("SELECT id FROM albums") // FIRES missing-null-check/parameter
	if err != nil {
		return err
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil { // FIRES missing-null-check/result-of-any
			return err
		}
	}
	return rows.Err()
}

type shop struct {
	db *sql.DB
}

func openShop(name string) (*shop, error) {
	db, err := sql.Open("sqlite3", name) // FIRES resource-leak/lost-database
	if err != nil {
		return nil, err
	}
	if err := makeTables(db); err != nil {
		return nil, err
	}
	return &shop{db: db}, nil
}

func quiet_resource_leak_database(name string) (*shop, error) {
	db, err := sql.Open("sqlite3", name)
	if err != nil {
		return nil, err
	}
	if err := makeTables(db); err != nil {
		db.Close() // FIRES missing-null-check/result-of-any
		return nil, err
	}
	return &shop{db: db}, nil
}

func titleAt(client *http.Client, address string) (string, error) {
	answer, err := client.Get(address) // FIRES resource-leak/file missing-null-check/parameter
	if err != nil {
		return "", err
	}
	return findTitle(answer.StatusCode), nil // FIRES missing-null-check/result
}

func quiet_resource_leak_parsed(client *Client, name string) (string, error) {
	answer := client.Get(name) // FIRES missing-null-check/parameter
	if answer.Failed() { // FIRES missing-null-check/result
		return "", errKind
	}
	return findTitle(answer.Data), nil
}

func quiet_resource_leak_keyed(client *Client, all context.Context, name string) (string, error) {
	answer, err := client.Get(all, name) // FIRES missing-null-check/parameter
	if err != nil {
		return "", err
	}
	return findTitle(answer.Data), nil // FIRES missing-null-check/result
}

func quiet_resource_leak_item(client *Client, name string) (string, error) {
	item, err := client.Get(name) // FIRES missing-null-check/parameter
	if err != nil {
		return "", err
	}
	return findTitle(item.Value), nil // FIRES missing-null-check/result
}

func quiet_resource_leak_document(client *http.Client, address string) (string, error) {
	answer, err := client.Get(address) // FIRES missing-null-check/parameter
	if err != nil {
		return "", err
	}
	page, err := goquery.NewDocumentFromResponse(answer)
	if err != nil {
		return "", err
	}
	return page.Text(), nil
}

func quiet_resource_leak_sent(address string) error {
	file, err := os.Open("image.bin")
	if err != nil {
		return err
	}
	request, err := http.NewRequest("PUT", address, file)
	if err != nil {
		return err
	}
	return sendAll(request)
}

func logBoth() error {
	file, err := os.Create("shop.log") // FIRES resource-leak/file
	if err != nil {
		return err
	}
	both := io.MultiWriter(os.Stderr, file)
	fmt.Fprintln(both, "open")
	return nil
}

func quiet_resource_leak_log() error {
	file, err := os.Create("shop.log")
	if err != nil {
		return err
	}
	both := io.MultiWriter(os.Stderr, file)
	logger.Out = both
	return nil
}

func quiet_resource_leak_log_set() error {
	file, err := os.Create("shop.log")
	if err != nil {
		return err
	}
	log.SetOutput(io.MultiWriter(os.Stderr, file))
	return nil
}

func quiet_resource_leak_log_made() error {
	file, err := os.Create("shop.log")
	if err != nil {
		return err
	}
	handler := slog.NewTextHandler(file, nil)
	slog.SetDefault(slog.New(handler))
	return nil
}

func quiet_resource_leak_log_of_package() error {
	file, err := os.Create("shop.log")
	if err != nil {
		return err
	}
	shopLog = log.New(file, "", 0)
	return nil
}

func quiet_resource_leak_command(cmd *cobra.Command, names []string) error {
	file, err := os.Open("image.bin")
	if err != nil {
		return err
	}
	return sendAll(file, names)
}

func newCommand() *cobra.Command {
	file, err := os.Open("image.bin") // FIRES resource-leak/file
	if err != nil {
		return nil
	}
	title := firstLine(file)
	return commandOf(title)
}

func quiet_resource_leak_helper() (string, error) {
	file, err := os.Open("image.bin")
	if err != nil {
		return "", err
	}
	defer closing.CloseQuietly(file)
	return firstLine(file), nil
}

func sumAll(prices []int, load func(int) int) int {
	total := 0
	var group sync.WaitGroup
	for _, price := range prices {
		group.Add(1)
		go func(price int) {
			defer group.Done()
			total += load(price) // FIRES missing-lock/goroutines
		}(price)
	}
	group.Wait()
	return total
}

func quiet_missing_lock_sum(prices []int, load func(int) int) int {
	total := 0
	var guard sync.Mutex
	var group sync.WaitGroup
	for _, price := range prices {
		group.Add(1)
		go func(price int) {
			defer group.Done()
			own := 0
			own += load(price)
			guard.Lock()
			total += own
			guard.Unlock()
		}(price)
	}
	group.Wait()
	return total
}
