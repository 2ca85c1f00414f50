import { describe, expect, it } from "vitest";
import { didYouMean, distance, Plant, searchPlants, survives } from "../src/catalogue/search";

function plant(name: string, latin: string, description = "", hardiness = "H4"): Plant {
  return { sku: "ROS-0001", name, latin, description, hardiness, priceMinor: 100, rating: { sum: 9, count: 2 } };
}

const garden = [
  plant("Japanese maple", "Acer palmatum", "slow growing, loves shade"),
  plant("Shade lily", "Plantago", "for the dry corner"),
  plant("Crème caramel heuchera", "Heuchera villosa", "evergreen", "H6"),
];

describe("searchPlants", () => {
  it("prefers names", () => {
    expect(searchPlants(garden, "shade").map((h) => h.plant.name)).toEqual(["Shade lily", "Japanese maple"]);
  });

  it("knows Latin and ignores accents", () => {
    expect(searchPlants(garden, "acer")[0]?.plant.name).toBe("Japanese maple");
    expect(searchPlants(garden, "creme")).toHaveLength(1);
  });

  it("wants every word", () => {
    expect(searchPlants(garden, "shade evergreen")).toEqual([]);
  });
});

describe("didYouMean", () => {
  it("finds what is one letter off", () => {
    expect(didYouMean(garden, "mapel")).toBe("Japanese maple");
    expect(didYouMean(garden, "xxxxxx")).toBeNull();
  });

  it("measures", () => {
    expect(distance("maple", "maple")).toBe(0);
    expect(distance("maple", "apple")).toBe(2);
    expect(distance("maple", "rhododendron")).toBe(3);
  });
});

describe("survives", () => {
  it("goes by the zone", () => {
    expect(survives(garden[2]!, -18)).toBe(true);
    expect(survives(garden[0]!, -18)).toBe(false);
  });
});
