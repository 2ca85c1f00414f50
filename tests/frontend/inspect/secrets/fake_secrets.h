/* fake_secrets.h - random secrets of many kinds, in the forms that their issuers describe, with which the tests measure
 * what the detectors find. */
#ifndef MYTH_TESTS_FAKE_SECRETS_H
#define MYTH_TESTS_FAKE_SECRETS_H

#include "tests/support/check.h"

/* In a shape, %N and a letter are N random bytes: a = letters and digits, w = those and _ -, x = hex digits, u = A-Z
 * and 2-7, l = lower-case letters and digits, d = digits, b = base64. Everything else is written as it is. A secret
 * with a name is only found as the value of that name, one without (NULL) in any place. */
typedef struct {
    const char *kind, *name, *shape;
} fake_kind;

static const fake_kind fake_kinds[] = {
    {"aws-key", NULL, "AKIA%16u"},
    {"aws-secret", "aws_secret_access_key", "%40b"},
    {"github-token", NULL, "ghp_%36a"},
    {"github-token", NULL, "github_pat_%22a_%59a"},
    {"gitlab-token", NULL, "glpat-%20w"},
    {"slack-token", NULL, "xoxb-%12d-%12d-%24a"},
    {"webhook", NULL, "https://hooks.slack.com/services/T%8u/B%8u/%24a"},
    {"stripe-key", NULL, "sk_live_%24a"},
    {"google-key", NULL, "AIza%35w"},
    {"google-oauth", NULL, "GOCSPX-%28w"},
    {"openai-key", NULL, "sk-proj-%48a"},
    {"openai-key", NULL, "sk-%20aT3BlbkFJ%20a"},
    {"anthropic-key", NULL, "sk-ant-api03-%93w"},
    {"huggingface-token", NULL, "hf_%34a"},
    {"npm-token", NULL, "npm_%36a"},
    {"pypi-token", NULL, "pypi-AgEIcHlwaS5vcmc%70w"},
    {"sendgrid-key", NULL, "SG.%22w.%43w"},
    {"twilio-key", NULL, "SK%32x"},
    {"telegram-token", NULL, "%9d:%35w"},
    {"discord-token", NULL, "M%23a.%6a.%27a"},
    {"jwt", NULL, "eyJ%33w.eyJ%60w.%43w"},
    {"mailgun-key", NULL, "key-%32x"},
    {"mailchimp-key", NULL, "%32x-us12"},
    {"shopify-token", NULL, "shpat_%32x"},
    {"digitalocean-token", NULL, "dop_v1_%64x"},
    {"square-token", NULL, "sq0atp-%22w"},
    {"databricks-token", NULL, "dapi%32x"},
    {"docker-token", NULL, "dckr_pat_%27w"},
    {"rubygems-key", NULL, "rubygems_%48x"},
    {"vault-token", NULL, "hvs.%90w"},
    {"grafana-token", NULL, "glsa_%32a_%8x"},
    {"new-relic-key", NULL, "NRAK-%27u"},
    {"linear-key", NULL, "lin_api_%40a"},
    {"notion-token", NULL, "ntn_%46a"},
    {"postman-key", NULL, "PMAK-%24x-%34x"},
    {"pulumi-token", NULL, "pul-%40x"},
    {"doppler-token", NULL, "dp.pt.%43a"},
    {"age-key", NULL, "AGE-SECRET-KEY-1%58u"},
    {"password", "password", "%12a"},
    {"password", "DB_PASSWORD", "%6l!%6l"},
    {"password", "smtpPasswd", "%10w"},
    {"secret", "client_secret", "%32a"},
    {"token", "auth_token", "%24a"},
    {"key", "api_key", "%32x"},
    {"key", "AccountKey", "%86b=="},
};
enum { FAKE_KINDS = sizeof(fake_kinds) / sizeof(fake_kinds[0]), FAKE_MAX = 256 };

/* Writes n random bytes of a set. From six bytes on they have a digit and a letter, as nearly all real ones have, and
 * they neither begin nor end with - or _, which could belong to the text around them. */
static inline void fake_run(uint64_t *rng, char *dst, size_t n, char set)
{
    static const char alnum[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/";
    for (size_t i = 0; i < n; i++) {
        switch (set) {
        case 'd': dst[i] = (char)('0' + check_below(rng, 10)); break;
        case 'x': dst[i] = "0123456789abcdef"[check_below(rng, 16)]; break;
        case 'u': dst[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[check_below(rng, 32)]; break;
        case 'l': dst[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[check_below(rng, 36)]; break;
        case 'b':
            dst[i] = alnum[check_below(rng, 62 + 2) + (0)];
            dst[i] = dst[i] == '_' ? '+' : dst[i] == '-' ? '/' : dst[i];
            break;
        case 'w': dst[i] = alnum[check_below(rng, 64)]; break;
        default: dst[i] = alnum[check_below(rng, 62)]; break;
        }
    }
    if (n >= 6 && set != 'd') {
        dst[n / 2] = '7';
        dst[n / 2 + 1] = set == 'u' ? 'Q' : set == 'x' ? 'b' : 'q';
    }
    if (n && (dst[0] == '-' || dst[0] == '_'))
        dst[0] = 'k';
    if (n && (dst[n - 1] == '-' || dst[n - 1] == '_'))
        dst[n - 1] = 'k';
}

static inline size_t fake_make(char dst[FAKE_MAX], const fake_kind *k, uint64_t *rng)
{
    size_t n = 0;
    for (const char *p = k->shape; *p; p++) {
        if (*p != '%') {
            dst[n++] = *p;
            continue;
        }
        char *set;
        size_t run = strtoul(p + 1, &set, 10);
        fake_run(rng, dst + n, run, *set);
        n += run;
        p = set;
    }
    dst[n] = '\0';
    return n;
}

#endif
