/* readers.cpp - what reads texts from outside as more than texts. The marks are those of test_examples.c. */
#include <stdio.h>

void parse(const char *text, int n)
{
    show(xmlReadMemory(text, n, "a.xml", NULL, XML_PARSE_NOENT)); /* FIRES xml-entities/option */
}

void quiet_xml_entities_closed(const char *text, int n)
{
    show(xmlReadMemory(text, n, "a.xml", NULL, XML_PARSE_NONET));
}

void unpack(struct archive_entry *entry)
{
    char path[512];
    const char *name = archive_entry_pathname(entry);
    if (!name)
        return;
    snprintf(path, sizeof(path), "%s/%s", FOLDER, name); /* FIRES path-traversal/archive missing-null-check/argument */
    write_to(path, "wb");
}

void quiet_path_traversal_number(int n)
{
    char path[512];
    snprintf(path, sizeof(path), "/tmp/%d", n);
    write_to(path, "wb");
}
