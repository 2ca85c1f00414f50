// Parts of requests where a program takes them for its own. Marks: see test_examples.c.
package requests

import "archive/tar"

func lookUp(r *http.Request) ([]byte, error) {
	return exec.Command("sh", "-c", "nslookup "+r.FormValue("host")).Output() // FIRES shell-injection/request missing-null-check/result-of-call
}

func quiet_shell_injection_direct(r *http.Request) ([]byte, error) {
	return exec.Command("nslookup", r.FormValue("host")).Output() // FIRES missing-null-check/result-of-call
}

func answered(w http.ResponseWriter, incoming *http.Request) ([]byte, error) {
	return exec.Command("sh", "-c", "nslookup "+incoming.FormValue("host")).Output() // FIRES shell-injection/request missing-null-check/result-of-call missing-null-check/parameter
}

func sent(outgoing *http.Request) ([]byte, error) {
	return exec.Command("sh", "-c", "nslookup "+outgoing.FormValue("host")).Output() // FIRES shell-injection/command missing-null-check/result-of-call missing-null-check/parameter
}

func byName(db *sql.DB, r *http.Request) (*sql.Rows, error) {
	return db.QueryContext(r.Context(), "SELECT id FROM users WHERE name = '"+r.FormValue("name")+"'") // FIRES sql-injection/request missing-null-check/parameter
}

func sorted(db *sql.DB, r *http.Request) (*sql.Rows, error) {
	order := r.FormValue("order")
	if order == "" {
		order = "id"
	}
	return query(db, order)
}

func query(db *sql.DB, order string) (*sql.Rows, error) {
	return db.Query("SELECT id FROM users ORDER BY " + order) // FIRES sql-injection/request missing-null-check/parameter
}

func fromBody(db *sql.DB, r *http.Request) (*sql.Rows, error) {
	var in struct{ Name string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	return db.Query("SELECT id FROM users WHERE name = '" + in.Name + "'") // FIRES sql-injection/request missing-null-check/parameter
}

func quiet_sql_injection_bound(db *sql.DB, r *http.Request) (*sql.Rows, error) {
	return db.Query("SELECT id FROM users WHERE name = ?", r.FormValue("name")) // FIRES missing-null-check/parameter
}

func goOn(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.FormValue("next"), http.StatusFound) // FIRES open-redirect/request
}

func goFar(c *gin.Context) {
	c.Redirect(302, c.Query("target")) // FIRES open-redirect/request
}

func goBack(c *fiber.Ctx) error {
	return c.Redirect(c.Query("back")) // FIRES open-redirect/request
}

func quiet_open_redirect_own(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/users/"+r.FormValue("id"), http.StatusFound)
}

func quiet_open_redirect_secure(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "https://example.org"+r.URL.Path, http.StatusFound) // FIRES missing-null-check/chain
}

func preview(r *http.Request) (*http.Response, error) {
	return http.Get(r.FormValue("url")) // FIRES request-forgery/request
}

func head(r *http.Request) (*http.Request, error) {
	target := r.FormValue("url")
	return http.NewRequest("HEAD", target, nil) // FIRES request-forgery/request
}

func patient(r *http.Request) (*http.Request, error) {
	return http.NewRequestWithContext(r.Context(), "GET", r.FormValue("url"), nil) // FIRES request-forgery/request
}

func quiet_request_forgery_host(r *http.Request) (*http.Response, error) {
	return http.Get("https://example.org/" + r.FormValue("name"))
}

func quiet_request_forgery_checked(r *http.Request) (*http.Response, error) {
	target := r.FormValue("url")
	if !isAllowed(target) {
		return nil, errRefused
	}
	return http.Get(target)
}

func show(w http.ResponseWriter, name string) {
	fmt.Fprintf(w, "<p>Hello %s</p>", name) // FIRES unescaped-output/format
}

// ---- what is closed later, but not on every way out ----

func firstByte(name string) (byte, error) {
	file, err := os.Open(name) // FIRES resource-leak/closed-later path-traversal/joined
	if err != nil {
		return 0, err
	}
	buffer := make([]byte, 1)
	if _, err := file.Read(buffer); err != nil { // FIRES missing-null-check/result-of-any
		return 0, err
	}
	return buffer[0], file.Close()
}

func quiet_resource_leak_deferred(name string) (byte, error) {
	file, err := os.Open(name) // FIRES path-traversal/joined
	if err != nil {
		return 0, err
	}
	defer file.Close() // FIRES missing-null-check/result-of-any
	buffer := make([]byte, 1)
	if _, err := file.Read(buffer); err != nil {
		return 0, err
	}
	return buffer[0], nil
}

func marked(c *gin.Context) template.HTML {
	return template.HTML(c.PostForm("text")) // FIRES unescaped-output/request-markup
}

const release = "https://example.org/shop/tool/releases/latest"

func unpackRelease(reader *tar.Reader, folder string) error {
	header, err := reader.Next() // FIRES missing-null-check/parameter
	if err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(folder, header.Name), 0o755) // FIRES path-traversal/archive-release missing-null-check/result-of-any
}
