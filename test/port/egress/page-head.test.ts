/** What pages say of themselves. */
import { expect, test } from 'bun:test'
import { headOfHtml } from '#port/egress/page-head'

test.each<[string, string, [title: string, description: string]]>([
  ['nothing', '<p>Words', ['', '']],
  ['its title', '<title>\n A <b> &amp; C </title>', ['A <b> & C', '']],
  ['the first of two titles', '<title>One</title><title>Two</title>', ['One', '']],
  [
    'what previews show, in any order and case',
    `<TITLE>No</TITLE><META CONTENT='Why "so" &#233;' PROPERTY=og:description>
      <meta name="og:title" content="Yes"/><meta name="description" content="No">`,
    ['Yes', 'Why "so" é'],
  ],
  [
    'the usual name where the other is empty',
    '<meta property="og:title" content=" "><title>Yes</title>',
    ['Yes', ''],
  ],
  ['nothing that stands in its body', '<head></head><title>No</title>', ['', '']],
  ['nothing in a script', '<script>"<title>No</title>"</script><title>Yes</title>', ['Yes', '']],
  ['nothing in other tags', '<a name="description" content="No"><title>Yes', ['Yes', '']],
])('%s', async (_, html, [title, description]) => {
  expect(await headOfHtml(html)).toEqual({ title, description })
})

test('a value across pieces is whole, and its length is bounded', async () => {
  const pad = `<!-- ${'x'.repeat(8_170)} -->`
  expect(await headOfHtml(`${pad}<title>Late deliveries</title>`)).toMatchObject({
    title: 'Late deliveries',
  })
  const { title, description } = await headOfHtml(
    `<meta name=description content="${'&amp;'.repeat(50_000)}"><title>${'y'.repeat(50_000)}`,
  )
  expect([title.length, description.length]).toEqual([2_000, 2_000])
})
