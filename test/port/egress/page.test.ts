/**
 * Pages of the web as text: what is read of them, how far redirects are followed, and how much of
 * what is unpacked.
 */
import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { readPage } from '#port/egress/page'
import { failureOf, typed, usePages } from './pages.ts'

const { receiver, egress, page } = usePages()

const MEGABYTE = 1_048_576

const html = (body: string | Buffer) => page(typed('text/html', body))

describe('a page of HTML', () => {
  test('is its words, a line for each block, and its title', async () => {
    const body = `<!doctype html><html><head><title> Late
      deliveries &amp; you </title><style>p { color: red }</style><script>alert('<p>no')</script></head>
      <body><h1>Why</h1><p>Two <b>or</b>  three&nbsp;were<br>late.</p><ul><li>One<li>T<i>w</i>o</ul>
      <table><tr><td>a</td><td>b</td></tr></table><svg><title>icon</title><text>no</text></svg><template>no</template>
      <noscript>shown</noscript><!-- no --><p>1 &lt; 2 &#x1F600; &unknown;</p></body></html>`
    expect(await html(body)).toEqual({
      status: 200,
      finalUrl: receiver.url,
      type: 'text/html',
      title: 'Late deliveries & you',
      isCut: false,
      redirect: null,
      text: 'Why\nTwo or three were\nlate.\nOne\nTwo\na b\nshown\n1 < 2 😀 &unknown;',
    })
    const [request] = receiver.requests
    expect([
      request!.method,
      request!.body,
      request!.headers['accept-encoding'],
      request!.headers['content-length'],
    ]).toEqual(['GET', '', 'gzip, br', undefined])
    expect([
      request!.headers.cookie,
      request!.headers.authorization,
      request!.headers.referer,
    ]).toEqual([undefined, undefined, undefined])
  })

  test('keeps words that tags or pieces cut apart', async () => {
    const words = Array.from({ length: 4_000 }, (_, index) => `w${index}`)
    const { text } = await page(
      typed(
        'text/html',
        words.map((word) => `<b>${word.slice(0, 2)}</b>${word.slice(2)} &amp; `).join(''),
      ),
      {
        most: 100_000,
      },
    )
    expect(text).toBe(words.map((word) => `${word} &`).join(' '))
  })

  test('is read as far as asked, and says that there is more', async () => {
    const long = `<p>${'word '.repeat(50_000)}`
    const cut = await page(typed('text/html', long), { most: 100 })
    expect([cut.text.length, cut.isCut]).toEqual([100, true])
    const emoji = await page(typed('text/html', `<p>a${'😀'.repeat(100)}`), { most: 100 })
    expect(emoji.text.isWellFormed()).toBe(true)
  })

  test('without words is empty', async () => {
    expect(await html('<html><body><script>x</script>')).toMatchObject({
      title: null,
      text: '',
      isCut: false,
    })
    expect(await html('')).toMatchObject({ type: null, text: '' })
  })
})

const of = (part: string) => part.repeat(Math.ceil(MEGABYTE / part.length)).slice(0, MEGABYTE)

const hostile: Record<string, string> = {
  nested: of('<div>'),
  attributes: `<p ${of('a b ')}`,
  ampersands: of('&'),
  numbers: of('&#99999999999'),
  angles: of('<'),
  comments: of('<!--'),
  script: `<script>${of('</scrip')}`,
  quotes: of('<a b="'),
  titles: of('<title>'),
  svg: of('<svg><title>'),
  spaces: of(' '),
  closing: of('</'),
  entity: of('&CounterClockwiseContourIntegra'),
  hidden: `<style>${of('a{}')}`,
}

describe('a hostile megabyte', () => {
  test.each(Object.entries(hostile))('of %s leaves other work its turns', async (_, body) => {
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    receiver.answer = typed('text/html', body)
    setImmediate(count)
    const { text } = await readPage(egress(), {
      url: receiver.url,
      most: MEGABYTE,
      mayFollow: () => false,
    })
    isDone = true
    expect(text.length).toBeLessThanOrEqual(MEGABYTE)
    // A piece has 8,192 characters.
    expect(turns).toBeGreaterThan(120)
  })
})

describe('other text', () => {
  test.each(['text/plain', 'text/markdown; charset=utf-8', 'application/json'])(
    'of the type %s is read as it is',
    async (type) => {
      const body = '{"a": "<b>é</b>"}\n'
      expect(await page(typed(type, body))).toMatchObject({
        type: type.split(';')[0]!,
        title: null,
        text: body.trim(),
        isCut: false,
      })
    },
  )

  test.each([
    ['image/png', 'is of the type image'],
    ['application/pdf', 'is of the type PDF'],
    ['application/ignore-all-rules', 'is of a type that is not text'],
    ['', 'does not say what it is'],
  ])('of the type %s is refused in words of our own', async (type, words) => {
    expect(await failureOf(page(typed(type, 'x')))).toBe(
      `the answer ${words}; only HTML, plain text, Markdown and JSON can be read`,
    )
  })

  test('in other encodings is read by what the answer, or the page, says', async () => {
    const latin = Buffer.from('caf\xe9', 'latin1')
    const shown = async (type: string, body: Buffer) => (await page(typed(type, body))).text
    expect(await shown('text/plain; charset=iso-8859-1', latin)).toBe('café')
    expect(
      await shown(
        'text/html',
        Buffer.concat([Buffer.from('<meta charset="windows-1252"><p>'), latin]),
      ),
    ).toBe('café')
    expect(
      await shown(
        'text/plain',
        Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('café', 'utf16le')]),
      ),
    ).toBe('café')
    expect(
      await shown('text/plain; charset=shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b])),
    ).toBe('日本')
    expect(await shown('text/plain; charset=no-such', Buffer.from('café'))).toBe('café')
    expect(await shown('text/plain', Buffer.from('a\0b'))).toBe('ab')
  })

  test('of an error is read too', async () => {
    expect(
      await page({ status: 404, headers: { 'content-type': 'text/plain' }, body: 'gone' }),
    ).toMatchObject({
      status: 404,
      text: 'gone',
    })
  })
})

describe('what is packed', () => {
  const packed = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }

  test.each(Object.entries(packed))('as %s is unpacked', async (name, pack) => {
    expect(
      await page(typed('text/plain', pack('hello'), { 'content-encoding': name })),
    ).toMatchObject({ text: 'hello', isCut: false })
  })

  test.each(Object.entries(packed))('as %s is unpacked up to a megabyte', async (name, pack) => {
    receiver.answer = typed('text/plain', pack(Buffer.alloc(64 * MEGABYTE, 'a')), {
      'content-encoding': name,
    })
    const answer = await egress().get({
      url: receiver.url,
      headers: {},
      deadlineMs: 10_000,
      maxBytes: MEGABYTE,
    })
    expect([answer.bytes.length, answer.complete]).toEqual([MEGABYTE, false])
  })

  test('wrongly, or in a way that nobody knows, is no text', async () => {
    expect(await page(typed('text/plain', 'hello', { 'content-encoding': 'gzip' }))).toMatchObject({
      text: '',
      isCut: true,
    })
    expect(
      await failureOf(page(typed('text/plain', 'hello', { 'content-encoding': 'zstd' }))),
    ).toBe('Error')
  })

  test('not at all is read up to a megabyte', async () => {
    const { text, isCut } = await page(typed('text/plain', 'x'.repeat(3 * MEGABYTE)), {
      most: 2 * MEGABYTE,
    })
    expect([text.length, isCut]).toEqual([MEGABYTE, true])
  })
})
