/** What the headers of an answer say of the limits of a plan. */
import { expect } from 'bun:test'
import type { Reply } from '../app.ts'

/** Parses a structured header: `"posts";r=5;t=60`. */
const limitsIn = (header: string | null): Record<string, Record<string, number>> => {
  const items = [...(header ?? '').matchAll(/"(\w+)"((?:;[a-z]+=\d+)+)(?:, |$)/g)]
  expect(items.map(([whole]) => whole).join('')).toBe(header ?? '')
  return Object.fromEntries(
    items.map(([, name = '', params = '']) => [
      name,
      Object.fromEntries(
        [...params.matchAll(/;([a-z]+)=(\d+)/g)].map(([, key, n]) => [key, Number(n)]),
      ),
    ]),
  )
}
export const limitsOf = ({ headers }: Reply) => ({
  policy: limitsIn(headers.get('ratelimit-policy')),
  left: limitsIn(headers.get('ratelimit')),
})
