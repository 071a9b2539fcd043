/** README.md and docs/ as they are read: widths, fences and links. */
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { blocksOf, languages } from '#test/support/docs/page'
import { pageNames, pages, readPage } from '#test/support/docs/pages'

const INSTALL = ['npm install && npm start', 'npm install && npm test']
const LONGEST_README = 180
const MOST_COLUMNS = 100

test('every page is among these', () => {
  const found = readdirSync('docs').flatMap((name) =>
    name.endsWith('.md') ? [`docs/${name}`] : [],
  )
  expect(found.sort()).toEqual(pageNames.filter((name) => name.startsWith('docs/')))
})

test('the README is short, and begins with the two commands', () => {
  expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(LONGEST_README)
  expect(blocksOf(readPage('README.md'))[0]).toMatchObject({ language: '', lines: INSTALL })
})

/** What a link to a heading has after `#`. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )

describe.each(pages)('%s', (name, page) => {
  test('its lines are no wider than the code, but for tables', () => {
    const wide = page.split('\n').filter((line) => line.length > MOST_COLUMNS)
    expect(wide.filter((line) => !line.startsWith('|'))).toEqual([])
  })

  test('its fences say what they are, and a command that does not run says why', () => {
    for (const { language, lines } of blocksOf(page)) {
      if (lines.join() !== INSTALL.join())
        expect(languages as readonly string[]).toContain(language)
      if (language === 'text') for (const line of lines) expect(line).toMatch(/\S\s+# \S/)
    }
  })

  test('its links lead somewhere', () => {
    for (const [, target = ''] of page.matchAll(/\]\(([^)]+)\)/g)) {
      const [path = '', anchor] = target.split('#')
      const other = path === '' ? page : readPage(normalize(join(dirname(name), path)))
      if (anchor !== undefined) expect(anchorsOf(other)).toContain(anchor)
    }
  })
})
