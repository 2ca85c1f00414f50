// settings.cpp - protections that are switched off or protect nothing, and settings beside them that are right. The
// marks are those of test_examples.c.
#include <QNetworkReply>
#include <QSslSocket>
#include <curl/curl.h>
#include <cstdlib>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

void setUpTransfer(CURL *transfer)
{
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYHOST, 0L); // FIRES certificate-check/curl
}

void setUpClient(SSL_CTX *context)
{
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr); // FIRES certificate-check/verify-none
}

void setUpSocket(QSslSocket &socket)
{
    socket.setPeerVerifyMode(QSslSocket::VerifyNone); // FIRES certificate-check/verify-mode
}

void readReply(QNetworkReply &reply)
{
    reply.ignoreSslErrors(); // FIRES certificate-check/ignored-errors
}

void quiet_certificate_check_socket(QSslSocket &socket, QNetworkReply &reply, const QList<QSslError> &known,
                                     bool isStrict)
{
    socket.setPeerVerifyMode(QSslSocket::VerifyPeer);
    reply.ignoreSslErrors(known);
    if (!isStrict)
        socket.setPeerVerifyMode(QSslSocket::VerifyNone);
}

void quiet_certificate_check_curl(CURL *transfer, SSL_CTX *context)
{
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYHOST, 2L);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

int sealBlocks(EVP_CIPHER_CTX *context, const unsigned char *own)
{
    return EVP_EncryptInit_ex(context, EVP_aes_128_ecb(), nullptr, own, nullptr); // FIRES weak-cipher/named
}

int sealLetter(EVP_CIPHER_CTX *context, const unsigned char *own)
{
    const unsigned char start[16] = {0};
    return EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), nullptr, own, start); // FIRES weak-cipher/fixed-iv
}

int quiet_weak_cipher_start(EVP_CIPHER_CTX *context, const unsigned char *own)
{
    unsigned char start[16] = {0};
    fillRandom(start, sizeof(start));
    return EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), nullptr, own, start);
}

int shareFolder(const char *path)
{
    return chmod(path, 0666); // FIRES open-permissions/chmod
}

int keepSecret(const char *secretPath)
{
    return open(secretPath, O_WRONLY | O_CREAT | O_EXCL, 0644); // FIRES open-permissions/secret-file path-traversal/joined
}

int quiet_open_permissions_private(const char *path, const char *secretPath)
{
    if (chmod(path, 0640))
        return -1;
    return open(secretPath, O_WRONLY | O_CREAT | O_EXCL, 0600); // FIRES path-traversal/joined
}

void makeSessionId(unsigned char *id, int n)
{
    for (int i = 0; i < n; i++)
        id[i] = static_cast<unsigned char>(std::rand() % 256); // FIRES weak-hash/guessed missing-null-check/parameter
}

void makeInviteCode(unsigned char *code, int n)
{
    for (int i = 0; i < n; i++)
        code[i] = static_cast<unsigned char>(random()); // FIRES weak-hash/guessed-all missing-null-check/parameter
}

long greetPeer()
{
    const long peerToken = random(); // FIRES weak-hash/guessed-value
    return peerToken;
}

long quiet_weak_hash_jitter()
{
    const long delay = random();
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
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr); // FIRES certificate-check/self-signed
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
    EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), nullptr, own, start);
    EVP_EncryptUpdate(context, answer, &n, token, 16);
    return n;
}

int seal_token(EVP_CIPHER_CTX *context, const unsigned char *own, const unsigned char *token, int size)
{
    static const unsigned char start[] = {0x17, 0x99, 0x6d, 0x09, 0x3d, 0x28, 0xdd, 0xb3, 0xba, 0x69, 0x5a, 0x2e};
    unsigned char answer[32];
    int n = 0;
    EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), nullptr, own, start); // FIRES weak-cipher/fixed-iv
    EVP_EncryptUpdate(context, answer, &n, token, size);
    return n;
}
