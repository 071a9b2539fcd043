/**
 * Readers paste the commands of README.md and docs/: each page is followed from top to bottom. Two
 * files of tests share the pages, so that neither is what a run of all tests waits for.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { buildCli } from '#src/scripts/build-cli'
import { temporaryFolder } from '../folder.ts'
import { use } from '../use.ts'
import { blocksOf } from './page.ts'
import { pages } from './pages.ts'
import { openPlace, WALKED_WITHIN_MS, walk } from './walk.ts'

const commanding = pages.filter(([, page]) =>
  blocksOf(page).some(({ language }) => language === 'sh'),
)

export const describeWalks = (half: 0 | 1): void =>
  describe('the commands of a page succeed, and print what it says', () => {
    const folder = use(temporaryFolder)
    const place = use(async () => openPlace(await buildCli(join(folder.path, 'cli'))))
    test.each(commanding.filter((_, n) => n % 2 === half))(
      '%s',
      async (_, page) => {
        expect(await walk(page, place)).toEqual([])
      },
      WALKED_WITHIN_MS,
    )
  })
