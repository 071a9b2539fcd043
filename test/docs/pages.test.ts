/** Readers paste the commands of README.md and docs/: each page is followed from top to bottom. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { buildCli } from '#src/scripts/build-cli'
import { blocksOf, languages } from '#test/support/docs/page'
import { openPlace, WALKED_WITHIN_MS, walk } from '#test/support/docs/walk'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const names = [
  'README.md',
  'SECURITY.md',
  'docs/agents.md',
  'docs/backups.md',
  'docs/channels.md',
  'docs/cli.md',
  'docs/console.md',
  'docs/copies.md',
  'docs/operating.md',
  'docs/people.md',
  'docs/promises.md',
  'docs/rest.md',
  'docs/running.md',
  'docs/security.md',
  'docs/webhooks.md',
  'docs/workspace-agent.md',
]
const read = (name: string): string => readFileSync(name, 'utf8')
const pages = names.map((name) => [name, read(name)] as const)

const INSTALL = ['npm install && npm start', 'npm install && npm test']
const LONGEST_README = 180
const MOST_COLUMNS = 100

test('every page is among these', () => {
  const found = readdirSync('docs').flatMap((name) =>
    name.endsWith('.md') ? [`docs/${name}`] : [],
  )
  expect(found.sort()).toEqual(names.filter((name) => name.startsWith('docs/')))
})

test('the README is short, and begins with the two commands', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(LONGEST_README)
  expect(blocksOf(read('README.md'))[0]).toMatchObject({ language: '', lines: INSTALL })
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
      const other = path === '' ? page : read(normalize(join(dirname(name), path)))
      if (anchor !== undefined) expect(anchorsOf(other)).toContain(anchor)
    }
  })
})

describe('the commands of a page succeed, and print what it says', () => {
  const folder = use(temporaryFolder)
  const place = use(async () => openPlace(await buildCli(join(folder.path, 'cli'))))
  const commanding = pages.filter(([, page]) =>
    blocksOf(page).some(({ language }) => language === 'sh'),
  )
  test.each(commanding)(
    '%s',
    async (_, page) => {
      expect(await walk(page, place)).toEqual([])
    },
    WALKED_WITHIN_MS,
  )
})
