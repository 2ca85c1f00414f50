import express from "express";
const db = require("./db");

const app = express();
const MAX_ITEMS = 20;

/** One page of items. */
export function pageOf(items, n) {
    return items.slice(n * MAX_ITEMS, (n + 1) * MAX_ITEMS);
}

const totalPrice = (items) => {
    return items.reduce((sum, item) => sum + item.price, 0);
};

class Cart {
    constructor(owner) {
        this.owner = owner;
    }

    checkout() {
        return totalPrice(db.itemsOf(this.owner));
    }
}

app.get("/cart/:id", (req, res) => {
    res.json(new Cart(req.params.id).checkout());
});

describe("Cart", () => {
    it("adds up", () => {
        expect(totalPrice([])).toBe(0);
    });
});

exports = module.exports = class Router extends Base {
  use (fn) { return this; }
};

exports.Layer = class {
  match (path) { return path; }
};

exports.helpers = {
  get url () { return 1; },
};

describe('router.use(fn)', () => {
  it('returns [itself]', () => { use(); });
});

// Functions and classes with a name of their own, given to others.
router.use(function logRequest(req) { next(); });
defineGetter(req, 'host', function host() { return hostOf(this); });
module.exports.render = function render(file) { return file; };
register(class Plugin {});
export var DATA = [];
