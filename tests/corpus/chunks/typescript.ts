import { Controller, Get } from "@nestjs/common";

export interface User {
    id: number;
    name: string;
}

export type UserId = User["id"];

enum Role { Admin, Guest }

@Controller("users")
export class UserController {
    constructor(private readonly users: UserService) {}

    @Get("/:id")
    findOne(id: UserId): User {
        return this.users.find(id);
    }
}

export const isAdmin = (role: Role): boolean => role === Role.Admin;

function hidden(user: User): string {
    return user.name;
}

test("admin", () => {
    expect(isAdmin(Role.Admin)).toBe(true);
});

export enum Level { Low = 1, High = 2 }

interface Hooks {
  ready: (name: string) => void;
  name: string;
}

enum Color { Red, Green = 2, "Blue" }

declare const VERSION: string;

export namespace numbers {
  export const ZERO = 0;
}
