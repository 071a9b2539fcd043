/** How far the redirects of a page are followed. */
import { describe, expect, test } from 'bun:test'
import { openCanary } from '#test/support/http/canary'
import { use } from '#test/support/use'
import { failureOf, typed, usePages } from './pages.ts'

const { receiver, page } = usePages()
const canary = use(openCanary)

describe('a redirect', () => {
  const chain = (length: number) => (request: { url: string }) => {
    const at = Number(request.url.slice(1) || 0)
    if (at < length) return { status: 302, headers: { location: `/${at + 1}#top` } }
    return typed('text/plain', `page ${at}`)
  }

  test('is followed three times, and no more', async () => {
    expect(await page(chain(3))).toMatchObject({
      status: 200,
      finalUrl: `${receiver.url}3`,
      text: 'page 3',
      redirect: null,
    })
    expect(await failureOf(page(chain(4)))).toBe('the address redirects more than 3 times')
  })

  test('is judged each time; one that is not followed is the result, and nothing was sent there', async () => {
    const judged: string[] = []
    const mayFollow = (url: string) => judged.push(url) < 2
    expect(await page(chain(9), { mayFollow })).toEqual({
      status: 302,
      finalUrl: `${receiver.url}1`,
      type: null,
      title: null,
      text: '',
      isCut: false,
      redirect: `${receiver.url}2`,
    })
    expect([judged, receiver.requests.map(({ url }) => url)]).toEqual([
      [`${receiver.url}1`, `${receiver.url}2`],
      ['/', '/1'],
    ])
  })

  test.each([
    'http://127.0.0.1:P/',
    'http://localhost:P/',
    'file:///etc/passwd',
    '//[::1]:P/',
    'http://2130706433:P/',
    'ftp://127.0.0.1:P/',
  ])('to %s is never followed, whoever allows it', async (location) => {
    const before = canary.hits()
    const to = location.replace('P', String(canary.port))
    expect(await failureOf(page({ status: 301, headers: { location: to } }))).toMatch(
      /^the (URL|host|address)/,
    )
    expect(canary.hits()).toBe(before)
  })

  test('without an address, or to none, is no redirect', async () => {
    expect(await page({ status: 304 })).toMatchObject({ status: 304, text: '', redirect: null })
    expect(await failureOf(page({ status: 302, headers: { location: 'https://' } }))).toBe(
      'the address redirects to what is no address',
    )
  })
})
