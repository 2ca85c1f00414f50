//! Settings of the server.
const std = @import("std");
const limits = @import("limits.zig");
const Allocator = @import("std").mem.Allocator;
const old = @compileError("use Settings");

/// What the server is started with.
pub const Settings = struct {
    port: u16,
    mode: Mode = .plain,

    const default_port = 8080;

    /// Reads the settings; the caller frees them.
    pub fn load(allocator: Allocator, path: []const u8) !Settings {
        const text = try std.fs.cwd().readFileAlloc(allocator, path, limits.file_bytes);
        return parse(text);
    }

    fn isPlain(self: *const Settings) bool {
        return self.mode == .plain;
    }
};

pub const Mode = enum { plain, secure };
pub const LoadError = error{ NotFound, TooLarge };

var n_loaded: usize = 0;

extern fn getpid() c_int;

fn parse(text: []const u8) Settings {
    n_loaded += 1;
    return Settings{ .port = if (text.len > 0) 80 else Settings.default_port };
}

/// A list of one type.
pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn push(self: *@This(), item: T) void {
            store(self.items, item);
        }
    };
}

test "reads the port" {
    const s = parse("80");
    try std.testing.expectEqual(@as(u16, 80), s.port);
}

test parse {
    _ = parse("");
}
