/** Search of documents: what is found, in which order, and where. */
import { describe, expect, test } from 'bun:test'
import { documentStory, makeDocument } from '#test/support/agent/documents'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const setUp = async (language = 'en') => {
  const story = await documentStory(app)
  if (language !== 'en') await speaks(story, language)
  const found = async (q: string) =>
    (await story.search(q)).map(({ text }: { text: string }) => text)
  return { ...story, found, speaks: (other: string) => speaks(story, other) }
}

const speaks = async ({ key }: { key: string }, language: string): Promise<void> => {
  const { status } = await app.send('PUT', '/api/v1/growth/profile', { key, body: { language } })
  expect(status).toBe(200)
}

test('finds words in any of their forms, with the places that have them', async () => {
  const { added, search } = await setUp()
  const { content, id } = await added({
    content: '# Returns\n\n## Costs\n\nReturning a parcel costs nothing, if it is late.',
  })
  const [hit, ...others] = await search('return parcels')
  expect(others).toEqual([])
  expect(hit).toMatchObject({ documentId: id, fileName: 'returns.md', heading: 'Returns › Costs' })
  expect(content.slice(hit.start, hit.end)).toBe(hit.text)
  expect(
    hit.highlights.map(({ start, end }: { start: number; end: number }) =>
      content.slice(start, end),
    ),
  ).toEqual(['Returns', 'Returning', 'parcel'])
})

test('puts passages with more of the words first, and those with rarer ones', async () => {
  const { found, ...place } = await setUp()
  for (let n = 0; n < 5; n++) await makeDocument(place, { content: `Parcels come on day ${n}.` })
  await makeDocument(place, { content: 'Zebras come.' })
  await makeDocument(place, { content: 'Parcels with zebras.' })
  expect((await found('parcel zebra')).slice(0, 2)).toEqual([
    'Parcels with zebras.',
    'Zebras come.',
  ])
  expect(await found('parcel zebra')).toHaveLength(7)
  expect(await place.search('parcel', '&limit=2')).toHaveLength(2)
})

test('finds passages by their headings', async () => {
  const { found, added } = await setUp()
  await added({ content: '# Refunds\n\nWithin thirty days.' })
  expect(await found('refund')).toEqual(['# Refunds\n\nWithin thirty days.'])
})

test('finds words beside quotation marks, dashes and spaces of any kind, and shows them as they are', async () => {
  const { added, search } = await setUp()
  const { content } = await added({
    content: '“Pallets”—by O’Reilly, 30\u00A0crates, l’hôtel, Cafe\u0301, re\u00ADfunds…',
  })
  const shown = async (q: string) =>
    (await search(q)).flatMap(({ highlights }: { highlights: { start: number; end: number }[] }) =>
      highlights.map(({ start, end }) => content.slice(start, end)),
    )
  expect(await shown("pallet O'Reilly")).toEqual(['Pallets', 'O', 'Reilly'])
  expect(await shown('“crate” refund')).toEqual(['crates', 're\u00ADfunds'])
  expect(await shown('hôtel café')).toEqual(['hôtel', 'Cafe\u0301'])
})

describe('in other languages', () => {
  test('finds German forms in a German workspace', async () => {
    const { found, added } = await setUp('de')
    await added({ content: 'Die Rückgaben der Häuser sind kostenlos.' })
    expect(await found('Rückgabe Haus')).toHaveLength(1)
  })

  test('finds words that the language of the workspace takes for fillers', async () => {
    const { found, added } = await setUp('de')
    await added({ content: 'They fought a war.' })
    expect(await found('war')).toHaveLength(1)
  })

  test('finds what was added before the language changed, and after it', async () => {
    const { found, added, speaks } = await setUp('de')
    await added({ content: 'Die Rückgaben sind kostenlos.' })
    await speaks('en')
    await added({ content: 'Returns cost nothing.' })
    expect(await found('Rückgabe')).toHaveLength(1)
    expect(await found('returning')).toHaveLength(1)
  })

  test.each([
    ['返品', 'お客様の返品期間は三十日です。'],
    ['สวยงาม', 'ประเทศไทยเป็นประเทศที่สวยงามมาก'],
    ['посылки', 'Посылка пришла вчера.'],
  ])('finds %s', async (word, content) => {
    const { search, added } = await setUp(word === 'посылки' ? 'ru' : 'en')
    await added({ content })
    const [hit] = await search(word)
    expect(hit.text).toBe(content)
    expect(hit.highlights).toHaveLength(1)
  })
})

test.each([
  "'",
  '"',
  '\\',
  ':*',
  '& | !',
  '<->',
  '%_',
  '()',
  'a'.repeat(300),
  '🦓',
  '\uE000\uE001',
  'the',
])('takes %s as words to look for', async (q) => {
  const { send, added } = await setUp()
  await added({ content: `The text has ' and " and \\ and \uE000marks\uE001.` })
  expect((await send('GET', `/search?q=${encodeURIComponent(q)}`)).status).toBe(200)
})

test.each([
  '',
  '?q=',
  '?q=%20',
  `?q=${'a'.repeat(301)}`,
  '?q=a&limit=0',
  '?q=a&limit=21',
  '?q=a&x=1',
  '?q=%00',
])('search%s is 400', async (query) => {
  const { send } = await setUp()
  expect((await send('GET', `/search${query}`)).status).toBe(400)
})

test('another workspace finds nothing of it', async () => {
  const [one, two] = [await setUp(), await setUp()]
  await one.added({ content: 'Zebras come.' })
  await two.added({ content: 'Lions come.' })
  expect([await two.found('zebra'), await two.found('lion')]).toEqual([[], ['Lions come.']])
})

test('the passages of one word are found in all blocks of a long document', async () => {
  const { added, search } = await setUp()
  const paragraph = (n: number) =>
    `${n % 50 === 0 ? `Zebra z${n}` : 'Parcel'} ${'of some words '.repeat(80)}`
  await added({ content: Array.from({ length: 200 }, (_, n) => paragraph(n)).join('\n\n') })
  const hits = await search('zebra', '&limit=20')
  expect(hits.map(({ text }: { text: string }) => text.split(' ')[1]).sort()).toEqual([
    'z0',
    'z100',
    'z150',
    'z50',
  ])
})
