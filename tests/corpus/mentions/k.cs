class K {
    const int MAX_DEPTH = 8;
    int limit; // @word
    string work() {
        limit = MAX_DEPTH; // @assigns
        var p = @"c:\"; var q = limit; // @word
        var v = @"@no ""limit
@no MAX_DEPTH";
        return $"{limit} of {{deep}}";
    }
}
