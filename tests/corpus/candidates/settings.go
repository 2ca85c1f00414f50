// settings.go - protections that are switched off or protect nothing, and settings beside them that are right. The
// marks are those of test_examples.c.
package settings

import (
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"math/rand"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

func configOfShop() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} // FIRES certificate-check/skip
}

func openShop(config *tls.Config) {
	config.InsecureSkipVerify = true // FIRES certificate-check/skip-set missing-null-check/parameter
}

func quiet_certificate_check_option(config *tls.Config, insecure bool) *tls.Config {
	if insecure {
		config.InsecureSkipVerify = true // FIRES missing-null-check/parameter
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure}
}

func userOf(authorization string) (string, error) {
	token, _, err := jwt.NewParser().ParseUnverified(authorization, jwt.MapClaims{}) // FIRES unverified-token/unsigned
	if err != nil {
		return "", err
	}
	return token.Claims.GetSubject() // FIRES missing-null-check/result-of-any
}

func signNothing(token *jwt.Token) (string, error) {
	return token.SignedString(jwt.UnsafeAllowNoneSignatureType) // FIRES unverified-token/none missing-null-check/parameter
}

func quiet_unverified_token_issuer(authorization string, keys jwt.Keyfunc) (*jwt.Token, error) {
	if _, _, err := jwt.NewParser().ParseUnverified(authorization, jwt.MapClaims{}); err != nil {
		return nil, err
	}
	return jwt.Parse(authorization, keys)
}

func blockOf(key []byte) (cipher.Block, error) {
	return des.NewCipher(key) // FIRES weak-cipher/call
}

func sealLetter(block cipher.Block) cipher.BlockMode {
	return cipher.NewCBCEncrypter(block, []byte("0123456789abcdef")) // FIRES weak-cipher/fixed-iv
}

func sealNote(gcm cipher.AEAD, text []byte) []byte {
	nonce := make([]byte, 12)
	return gcm.Seal(nil, nonce, text, nil) // FIRES weak-cipher/fixed-nonce
}

func quiet_weak_cipher_start(gcm cipher.AEAD, block cipher.Block, text, start []byte) []byte {
	nonce := make([]byte, 12)
	fill(nonce)
	cipher.NewCTR(block, start[:16])
	return gcm.Seal(nil, nonce, text, nil)
}

func shareFolder(path string) error {
	return os.Chmod(path, 0777) // FIRES open-permissions/chmod
}

func keepToken(tokenPath string, token []byte) error {
	return os.WriteFile(tokenPath, token, 0644) // FIRES open-permissions/secret-file path-traversal/joined
}

func quiet_open_permissions_modes(path, tokenPath string, text []byte) error {
	if err := os.Chmod(path, 0755); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0644); err != nil { // FIRES path-traversal/joined
		return err
	}
	return os.WriteFile(tokenPath, text, 0600) // FIRES path-traversal/joined
}

func secretOf() string {
	return getEnv("JWT_SECRET", "not-so-long") // FIRES hardcoded-secret/fallback
}

var signKey = []byte("what-we-sign-by")

func signClaims(token *jwt.Token) (string, error) {
	return token.SignedString(signKey) // FIRES hardcoded-secret/signs missing-null-check/parameter
}

func signHook(body []byte) []byte {
	hash := hmac.New(sha256.New, signKey) // FIRES hardcoded-secret/hmac
	hash.Write(body) // FIRES unchecked-return/dropped
	return hash.Sum(nil)
}

func quiet_hardcoded_secret_given(token *jwt.Token, key []byte) (string, error) {
	hmac.New(sha256.New, key)
	hmac.New(sha256.New, []byte("WebData"))
	getEnv("SECRET_NAME", "name-of-it")
	return token.SignedString(key) // FIRES missing-null-check/parameter
}

func newInviteDelay() time.Duration {
	return time.Duration(rand.Intn(90)) * time.Millisecond
}

func newInvite(code []byte) {
	for i := range code {
		code[i] = byte(rand.Intn(256)) // FIRES weak-hash/guessed-all missing-bounds-check/index
	}
}

func quiet_weak_hash_colour(code []byte) {
	for i := range code {
		code[i] = byte(rand.Intn(256)) // FIRES missing-bounds-check/index
	}
}
