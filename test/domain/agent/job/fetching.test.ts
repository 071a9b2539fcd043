/** Which addresses are read unasked. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { allowedHosts, fetchAsks, hostOf, hostRuleOf } from '#domain/agent/job/fetching'
import { runs } from '#test/support/property'

const asks = (url: string, { hosts = [] as string[], taint = [] as string[], unasked = 0 } = {}) =>
  fetchAsks({ url, hosts, taint, unasked }).length

const OFF = 'is not on the list of hosts that are read unasked'

describe('an address', () => {
  test.each([
    'https://en.wikipedia.org/wiki/Tendril',
    'https://zh.m.wikipedia.org/',
    'https://DOCS.X.COM/x-api',
    'https://docs.bsky.app/docs/get-started#top',
    'https://www.rfc-editor.org/rfc/rfc9110.html',
  ])('%s is on the list', (url) => expect(asks(url)).toBe(0))

  test.each([
    'https://wikipedia.org/',
    'https://wikipedia.org.evil.example/',
    'https://evilwikipedia.org/',
    'https://docs.x.com.evil.example/',
    'https://x.com/',
    'https://api.docs.x.com/',
    'https://docs.x.com./',
    'https://docs.x.com:8443/',
    'https://rfc-editor.org/',
    'https://docs.x.com@evil.example/',
    'https://evil.example/docs.x.com',
    'https://evil.example?.wikipedia.org',
    'https://evil.example#.wikipedia.org',
    'https://еn.wіkіpedia.org/',
    'docs.x.com',
    'nonsense',
    '',
  ])('%s is not', (url) =>
    expect(fetchAsks({ url, hosts: [], taint: [], unasked: 0 }).join()).toEndWith(OFF),
  )

  test('of a host that the operator or a person has added is on it, exactly or below it', () => {
    const hosts = ['blog.example.com', '*.example.org', 'dev.example.com:8443']
    const table = [
      'blog.example.com',
      'a.blog.example.com',
      'a.b.example.org',
      'example.org',
      'dev.example.com:8443',
      'dev.example.com',
    ]
    expect(table.map((host) => asks(`https://${host}/`, { hosts }))).toEqual([0, 1, 0, 1, 0, 1])
  })
})

describe('in a job that has read untrusted text', () => {
  const taint = ['fetch_url example.com']
  const longOf = (characters: number) => `https://docs.x.com/${'a'.repeat(characters - 3)}?b`

  test('path and query have at most 200 characters together', () => {
    expect([
      asks(longOf(200), { taint }),
      asks(longOf(201), { taint }),
      asks(longOf(2_000)),
    ]).toEqual([0, 1, 0])
  })

  test('five addresses are read unasked, and no more', () => {
    const url = 'https://docs.x.com/'
    expect([4, 5, 6].map((unasked) => asks(url, { taint, unasked }))).toEqual([0, 1, 1])
    expect(asks(url, { unasked: 9 })).toBe(0)
  })

  test('each reason is told', () => {
    expect(fetchAsks({ url: longOf(300), hosts: [], taint, unasked: 7 })).toEqual([
      'the address has more than 200 characters',
      '5 addresses were read unasked already',
    ])
  })
})

test('rules name a host with its port, and only those that allow count', () => {
  expect([
    hostRuleOf('https://Blog.Example.com/a?b'),
    hostRuleOf('https://example.com:8443/'),
  ]).toEqual(['fetch_url:blog.example.com', 'fetch_url:example.com:8443'])
  const rules = new Map([
    ['fetch_url', 'allow'],
    ['fetch_url:a.example', 'allow'],
    ['fetch_url:b.example', 'ask'],
    ['growth_overview', 'allow'],
  ] as const)
  expect(allowedHosts(rules)).toEqual(['a.example'])
  expect(hostOf('mailto:a@example.com')).toBeUndefined()
})

test('nothing is read unasked that is off the list, or long or often after untrusted text', () => {
  const part = fc.constantFrom(
    'docs',
    'x',
    'com',
    'wikipedia',
    'org',
    'en',
    'evil',
    'example',
    '@',
    ':',
    ':443',
    ':99',
    '/',
    '?',
    '#',
    '.',
    '*',
    '%2e',
    '\\',
  )
  const url = fc
    .array(part, { maxLength: 12 })
    .map((parts) => `https://${parts.join('.').replace(/\.([@:/?#.\\%])/g, '$1')}`)
  const facts = fc.record({
    url,
    hosts: fc.subarray(['*.example', 'evil.example']),
    taint: fc.subarray(['page']),
    unasked: fc.nat(8),
    more: fc.nat(400),
  })
  const check = fc.property(facts, ({ more, ...given }) => {
    const whole = { ...given, url: `${given.url}${'a'.repeat(more)}` }
    if (fetchAsks(whole).length > 0) return
    const { hostname, host, pathname, search } = new URL(whole.url)
    const isListed =
      hostname.endsWith('.wikipedia.org') ||
      ['docs.x.com', 'docs.bsky.app', 'www.rfc-editor.org'].includes(hostname) ||
      (given.hosts.includes('*.example') && hostname.endsWith('.example')) ||
      (given.hosts.includes('evil.example') && hostname === 'evil.example')
    expect([isListed, host]).toEqual([true, hostname])
    if (given.taint.length > 0)
      expect([pathname.length + search.length <= 200, given.unasked < 5]).toEqual([true, true])
  })
  fc.assert(check, runs(5_000))
})

test('a job of a channel reads nothing unasked once it has read untrusted text, nor one that anybody may have begun', () => {
  const url = 'https://docs.x.com/'
  expect(fetchAsks({ url, hosts: [], taint: [], unasked: 0, inChannel: true })).toEqual([])
  expect(fetchAsks({ url, hosts: [], taint: ['page'], unasked: 0, inChannel: true })).toEqual([
    'a job from a channel has read untrusted text',
  ])
  for (const inChannel of [true, false])
    expect(fetchAsks({ url, hosts: [], taint: ['channel sms'], unasked: 0, inChannel })).toEqual([
      'a message that anybody could have written has begun the job',
    ])
})
