import { describe, expect, it } from "vitest";
import { add, format, money, parse, split, sum, times } from "../src/lib/money";

describe("money", () => {
  it("adds pence exactly", () => {
    expect(add(money(10), money(20))).toEqual(money(30));
    expect(sum([money(1), money(2), money(3)]).minor).toBe(6);
  });

  it("refuses to mix currencies", () => {
    expect(() => add(money(1, "GBP"), money(1, "EUR"))).toThrow(/mix/);
  });

  it("rounds when multiplied", () => {
    expect(times(money(333), 1.5).minor).toBe(500);
  });

  it("splits without losing a penny", () => {
    expect(split(money(100), 3).map((m) => m.minor)).toEqual([34, 33, 33]);
    expect(split(money(-100), 3).map((m) => m.minor)).toEqual([-34, -33, -33]);
  });

  it.each([
    ["12", 1200],
    ["12.5", 1250],
    [" 0,99 ", 99],
  ])("parses %s", (text, minor) => {
    expect(parse(text)?.minor).toBe(minor);
  });

  it.each(["", "abc", "1.234", "-1", "1e3"])("does not parse %s", (text) => {
    expect(parse(text)).toBeNull();
  });

  it("formats for people", () => {
    expect(format(money(123456))).toBe("£1,234.56");
  });
});
