/** The places of the console. */
import { expect, test } from 'bun:test'
import { choiceIn, hrefOf, placeAt, signInHref } from '#src/console/router/paths'

test('the address of a place leads back to it, whatever its parts contain', () => {
  const params = { kind: 'draft', id: 'a/b?c d%é' }
  const href = hrefOf('entry', params, { show: 'call', q: undefined })
  expect(href).toBe('/console/inbox/draft/a%2Fb%3Fc%20d%25%C3%A9?show=call')
  expect(placeAt(new URL(href, 'http://x').pathname)).toEqual({ name: 'entry', params })
})

test.each([
  ['/console', 'start'],
  ['/console/', 'start'],
  ['/console/inbox', 'inbox'],
  ['/console/inbox/draft', undefined],
  ['/console/inbox//x', undefined],
  ['/console/inbox/draft/x/y', undefined],
  ['/console/inbox/draft/%E0', undefined],
  ['/elsewhere', undefined],
])('%s is %p', (path, name) => {
  expect(placeAt(path)?.name).toBe(name as never)
})

test('a search parameter counts only if it is one of those that a page knows', () => {
  const search = new URLSearchParams('show=draft&sort=<script>')
  expect([choiceIn(search, 'show', ['draft']), choiceIn(search, 'sort', ['up'])]).toEqual([
    'draft',
    undefined,
  ])
})

test('signing in leads back', () => {
  expect(signInHref('/console/inbox?q=a b')).toBe('/sign-in?next=%2Fconsole%2Finbox%3Fq%3Da%20b')
})
