import assert from "node:assert/strict";
import { test } from "node:test";
import { diffStock, droppedShare, parseStock, totals } from "../src/stockImport.js";

test("columns are found by name", () => {
  const { rows } = parseStock("location,sku,count\nA,ROS-0001,5");
  assert.deepEqual(rows, [{ sku: "ROS-0001", count: 5, location: "A" }]);
  assert.throws(() => parseStock("a,b\n1,2"), /expected columns/);
});

test("rows that make no sense are reported", () => {
  const { rows, problems } = parseStock("sku,count,location\nROS-0001,x,A\nros-1,3,A\nROS-0002,-1,A");
  assert.equal(rows.length, 0);
  assert.deepEqual(
    problems.map((p) => p.line),
    [2, 3, 4],
  );
});

test("locations add up", () => {
  const sums = totals([
    { sku: "ROS-0001", count: 2 },
    { sku: "ROS-0001", count: 3 },
  ]);
  assert.equal(sums.get("ROS-0001"), 5);
});

test("what is not in the file is gone", () => {
  const before = new Map([
    ["ROS-0001", 4],
    ["ROS-0002", 1],
  ]);
  const after = new Map([["ROS-0002", 2]]);
  assert.deepEqual(diffStock(before, after), [
    { sku: "ROS-0001", from: 4, to: 0 },
    { sku: "ROS-0002", from: 1, to: 2 },
  ]);
  assert.equal(droppedShare(before, after), 0.8);
});
