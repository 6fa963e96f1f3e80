// The few functions of node that tests use; its own types would be one more package.

declare module "node:test" {
  export function test(name: string, check: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  const assert: {
    ok(value: unknown, message?: string): void;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    throws(act: () => unknown, expected: RegExp): void;
  };
  export default assert;
}
