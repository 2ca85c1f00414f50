<?php

namespace App\Http;

use App\Models\User;

const PAGE_SIZE = 20;

/** Pages about users. */
class UserController extends Controller
{
    const ROLE = 'guest';

    #[Route('/users')]
    public function index(Request $request): array
    {
        return $this->present(User::all());
    }

    private function present($users)
    {
        return array_map('format_user', $users);
    }
}

function format_user(User $user): string
{
    return strtolower($user->name);
}

Route::get('/status', [StatusController::class, 'show']);

define('PRICE_LIMIT', 100);
print_r('nothing');

enum Suit: string
{
    case Hearts = 'H';
}

class Basket
{
    private ?int $count = 1;
    public static $first, $last;

    public function __construct(private Cart $cart)
    {
        $local = 1;
    }
}
