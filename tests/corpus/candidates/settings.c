/* settings.c - protections that are switched off or protect nothing, and settings beside them that are right. The marks
 * are those of test_examples.c. */
#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct client {
    SSL_CTX *context;
    int allow_self_signed;
};

void set_up_transfer(CURL *transfer, const char *address)
{
    curl_easy_setopt(transfer, CURLOPT_URL, address);
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, 0L); // FIRES certificate-check/curl
}

void set_up_client(struct client *own)
{
    SSL_CTX_set_verify(own->context, SSL_VERIFY_NONE, NULL); // FIRES certificate-check/verify-none missing-null-check/parameter
}

void quiet_certificate_check_curl(CURL *transfer, int is_insecure)
{
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYHOST, 2L);
    if (is_insecure)
        curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, 0L);
}

void quiet_certificate_check_context(struct client *own)
{
    SSL_CTX_set_verify(own->context, SSL_VERIFY_PEER, NULL); // FIRES missing-null-check/parameter
    if (own->allow_self_signed)
        SSL_CTX_set_verify(own->context, SSL_VERIFY_NONE, NULL);
}

int seal_blocks(EVP_CIPHER_CTX *context, const unsigned char *own)
{
    return EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), NULL, own, NULL); // FIRES weak-cipher/named
}

int seal_letter(EVP_CIPHER_CTX *context, const unsigned char *own)
{
    static const unsigned char start[] = "0123456789abcdef";
    return EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), NULL, own, start); // FIRES weak-cipher/fixed-iv
}

int quiet_weak_cipher_start(EVP_CIPHER_CTX *context, const unsigned char *own, const unsigned char *start)
{
    return EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, own, start);
}

int quiet_weak_cipher_decrypt_legacy(EVP_CIPHER_CTX *context, const unsigned char *own)
{
    return EVP_CipherInit_ex(context, EVP_des_ede3_cbc(), NULL, own, NULL, 0);
}

int share_folder(const char *path)
{
    return chmod(path, 0777); // FIRES open-permissions/chmod
}

int keep_token(const char *token_path)
{
    return open(token_path, O_WRONLY | O_CREAT | O_EXCL, 0644); // FIRES open-permissions/secret-file path-traversal/joined
}

int quiet_open_permissions_private(const char *path, const char *token_path, mode_t mode)
{
    if (chmod(path, 0755) || chmod(path, mode))
        return -1;
    return open(token_path, O_WRONLY | O_CREAT | O_EXCL, 0600); // FIRES path-traversal/joined
}

int quiet_open_permissions_table(const char *table_path)
{
    return open(table_path, O_WRONLY | O_CREAT | O_EXCL, 0644); // FIRES path-traversal/joined
}

void make_invite_code(unsigned char *code, int n)
{
    for (int i = 0; i < n; i++)
        code[i] = (unsigned char)(random() >> 8); // FIRES weak-hash/guessed-all missing-null-check/parameter
}

unsigned long greet_peer(void)
{
    unsigned long peer_session_token = (unsigned long)random(); // FIRES weak-hash/guessed-value
    return peer_session_token;
}

unsigned long quiet_weak_hash_jitter(void)
{
    unsigned long delay = (unsigned long)random();
    return delay;
}

/* A comment says that certificates are meant which a device made for itself. */
void set_up_device(CURL *transfer)
{
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, 0L); // FIRES certificate-check/self-signed
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYHOST, 0L); // allow self signed certificates
}

void set_up_context(SSL_CTX *context)
{
    /* The device in the cellar has a self-signed one. */
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL); // FIRES certificate-check/self-signed
}

void set_up_signed(CURL *transfer, const char *self_signed)
{
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, 0L); // FIRES certificate-check/curl
    log_name("self signed", self_signed);
}

/* One block that the other side chose anew is all that is encrypted. */
int quiet_weak_cipher_answer(EVP_CIPHER_CTX *context, const unsigned char *own, const unsigned char *token)
{
    static const unsigned char start[] = {0x17, 0x99, 0x6d, 0x09, 0x3d, 0x28, 0xdd, 0xb3, 0xba, 0x69, 0x5a, 0x2e};
    unsigned char answer[32];
    int n = 0;
    EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), NULL, own, start);
    EVP_EncryptUpdate(context, answer, &n, token, 16);
    return n;
}

int seal_token(EVP_CIPHER_CTX *context, const unsigned char *own, const unsigned char *token, int size)
{
    static const unsigned char start[] = {0x17, 0x99, 0x6d, 0x09, 0x3d, 0x28, 0xdd, 0xb3, 0xba, 0x69, 0x5a, 0x2e};
    unsigned char answer[32];
    int n = 0;
    EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), NULL, own, start); // FIRES weak-cipher/fixed-iv
    EVP_EncryptUpdate(context, answer, &n, token, size);
    return n;
}
