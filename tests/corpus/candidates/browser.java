// browser.java - code that GWT compiles to JavaScript, where texts are compared by their value. The marks are those of
// test_examples.c.
package shop.client;

import com.google.gwt.user.client.Timer;

class Browser {
    private String last;
    private Long owner;

    boolean quiet_wrong_call_by_value(String uri) {
        return last == uri;
    }

    boolean quiet_wrong_operator_identity_by_value(String uri) {
        return uri == "";
    }

    boolean isOwner(Long user) {
        return user == owner; // FIRES wrong-call/boxed
    }
}
