package store

import (
	"errors"
	"net/http"
)

const maxItems = 10

var ErrFull = errors.New("full")

// Store keeps items in order.
type Store struct {
	items []string
}

type Reader interface {
	Read(n int) (string, error)
}

// Add puts an item at the end.
func (s *Store) Add(item string) error {
	if len(s.items) == maxItems {
		return ErrFull
	}
	s.items = append(s.items, item)
	return nil
}

func newStore() *Store { return &Store{} }

func Routes(mux *http.ServeMux) {
	mux.HandleFunc("/items", listItems)
}

func TestAdd(t *testing.T) {
	newStore().Add("x")
}

type Stack[T any] struct {
	items []T
}

func (s Stack[T]) Len() int {
	return len(s.items)
}

func (s *Stack[T]) Push(item T) {
	s.items = append(s.items, item)
}

var (
	ErrLost, errOld = errors.New("lost"), errors.New("old")
	limit           int
)
