/** "1,200" */
export const count = (value: number) => value.toLocaleString('en');

/** "1 job", "1,200 jobs" */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
