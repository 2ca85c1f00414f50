// Package readers has what reads texts from outside as more than texts. The marks are those of test_examples.c.
package readers

import (
	"archive/tar"
	"text/template"
)

var page = template.Must(template.New("page").Parse("<p>{{.Text}}</p>"))

func find(conn *ldap.Conn, login string) error {
	filter := fmt.Sprintf("(&(objectClass=person)(uid=%s))", login) // FIRES ldap-injection/filter
	return list(filter)
}

func findAt(conn Directory, login string) error {
	return conn.Search("ou=people", "(uid="+login+")") // FIRES ldap-injection/search
}

func quiet_ldap_injection_escaped(conn Directory, login string) error {
	filter := fmt.Sprintf("(uid=%s)", ldap.EscapeFilter(login))
	return list(filter)
}

func unpack(reader *tar.Reader, folder string) error {
	header, err := reader.Next() // FIRES missing-null-check/parameter
	if err != nil {
		return err
	}
	target := filepath.Join(folder, header.Name) // FIRES path-traversal/archive missing-null-check/result-of-any
	return os.MkdirAll(target, 0o755) // FIRES path-traversal/made
}

func quiet_path_traversal_checked(reader *tar.Reader, folder string) error {
	header, err := reader.Next() // FIRES missing-null-check/parameter
	if err != nil {
		return err
	}
	if !filepath.IsLocal(header.Name) { // FIRES missing-null-check/result-of-any
		return errOutside
	}
	return write(filepath.Join(folder, header.Name))
}

func show(w http.ResponseWriter, note Note) error {
	return page.Execute(w, note) // FIRES unescaped-output/text-template
}

func quiet_unescaped_output_plain(w http.ResponseWriter, note Note) error {
	w.Header().Set("Content-Type", "text/plain")
	return page.Execute(w, note)
}

func quiet_unescaped_output_file(w *os.File, note Note) error {
	return page.Execute(w, note)
}

type pageServer struct {
	baseURL string
}

func (s *pageServer) quiet_unescaped_output_own(w http.ResponseWriter) error {
	return page.ExecuteTemplate(w, "index.html", map[string]string{"BaseURL": s.baseURL})
}

func (n *Note) showBy(w http.ResponseWriter) error {
	return page.Execute(w, map[string]string{"Text": n.Text}) // FIRES unescaped-output/text-template
}
