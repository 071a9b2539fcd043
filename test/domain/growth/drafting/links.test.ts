import { describe, expect, test } from 'bun:test'
import { findLinks } from '#domain/growth/drafting/links'

const linksOf = (text: string): string[] =>
  findLinks(text).map(({ start, end }) => text.slice(start, end))

describe('a bare domain begins where its word begins', () => {
  test.each([
    ['österreich.at', ['österreich.at']],
    ['(éa.de)', ['éa.de']],
    ['见example.com。', ['example.com']],
    ['x.みんなéa.de', ['x.みんな', 'éa.de']],
    ['a.b_c.münchen.de/weg', ['a.b_c.münchen.de/weg']],
  ])('%j', (text, links) => expect(linksOf(text)).toEqual(links))

  test.each(['/éxx.de', '.éxx.de', '-éxx.de', '_éxx.de', `${'é'.repeat(64)}.de`])(
    'nowhere in %j',
    (text) => expect(linksOf(text)).toEqual([]),
  )

  test('except after a letter that ends a mention, a hashtag or a cashtag, as on X', () => {
    expect(linksOf('@éxx.de #tagéxx.de $éxx.de')).toEqual(['xx.de', 'xx.de', 'xx.de'])
    expect(linksOf('@test.com #test.com $test.com @ééx.de')).toEqual(['éx.de'])
  })
})

describe('top-level domains', () => {
  test.each([
    'co',
    'com',
    'community',
    'in',
    'info',
    'ink',
    'london',
    'xn--p1ai',
    'みんな',
    'संगठन',
  ])('%s is one, whole', (domain) =>
    expect(linksOf(`see example.${domain} here`)).toEqual([`example.${domain}`]),
  )

  test.each(['c', 'comm', 'comx', 'london1', 'zz', 'みん'])('%s is none', (domain) =>
    expect(linksOf(`see example.${domain} here`)).toEqual([]),
  )
})
