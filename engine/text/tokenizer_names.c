/* tokenizer_names.c - which spellings are more than text: byte pieces, reserved pieces, markers of any Gemma.
 *
 * A file's own type flags are not enough to keep control tokens out of content: published files mark some of these as
 * normal or user-defined. So the list is literal, over all generations; a spelling that a vocabulary lacks costs
 * nothing.
 * Source   tokenizer.json and tokenizer_config.json as published with Gemma 1 to 4, CodeGemma; the
 *          documentation of FunctionGemma */
#include "tokenizer_impl.h"

static const char *const markers[] = {
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    "<mask>",
    "<2mass>",
    "[@BOS@]",
    "[multimodal]",
    "[toxicity=0]",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "<image_soft_token>",
    "<start_of_audio>",
    "<end_of_audio>",
    "<audio_soft_token>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|file_separator|>",
    "<|turn>",
    "<turn|>",
    "<|tool>",
    "<tool|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<tool_response|>",
    "<|\"|>",
    "<start_function_declaration>",
    "<end_function_declaration>",
    "<start_function_call>",
    "<end_function_call>",
    "<start_function_response>",
    "<end_function_response>",
    "<escape>",
    "<|think|>",
    "<|channel>",
    "<channel|>",
    "<|image>",
    "<image|>",
    "<|image|>",
    "<|audio>",
    "<audio|>",
    "<|audio|>",
    "<|video|>",
};

bool myth_tok_is_marker(const char *s, size_t n)
{
    if (n < 5 || (s[0] != '<' && s[0] != '['))
        return false;
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (strlen(markers[i]) == n && memcmp(markers[i], s, n) == 0)
            return true;
    return false;
}

bool myth_tok_is_shown(const char *s, size_t n)
{
    static const char *const shown[] = {"<|channel>",
                                        "<channel|>",
                                        "<|tool_call>",
                                        "<tool_call|>",
                                        "<|tool_response>",
                                        "<tool_response|>",
                                        "<|\"|>",
                                        "<start_function_call>",
                                        "<end_function_call>",
                                        "<start_function_response>",
                                        "<end_function_response>",
                                        "<escape>"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strlen(shown[i]) == n && memcmp(shown[i], s, n) == 0)
            return true;
    return false;
}

bool myth_tok_is_unused(const char *s, size_t n)
{
    if (n < 9 || memcmp(s, "<unused", 7) != 0 || s[n - 1] != '>')
        return false;
    for (size_t i = 7; i + 1 < n; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    return true;
}

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

int myth_tok_byte_of(const char *s, size_t n)
{
    if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>')
        return -1;
    int hi = hex_digit(s[3]), lo = hex_digit(s[4]);
    return hi < 0 || lo < 0 ? -1 : hi << 4 | lo;
}
