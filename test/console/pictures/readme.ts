/** The three pictures of README.md, each of at most 150 KB. */
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { browserOf, openTab } from '#test/support/console/tab'
import { smallPng } from './png.ts'
import { states } from './states.ts'
import type { Scene } from './workspace.ts'

interface ReadmePicture {
  name: string
  /** Of which state. */
  state: string
  viewport: { width: number; height: number }
  colorScheme: 'light' | 'dark'
  /** Pixels of the picture for each of the page. */
  scale: number
}

const PICTURES: readonly ReadmePicture[] = [
  {
    name: 'inbox',
    state: 'draft',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    scale: 1,
  },
  {
    name: 'phone',
    state: 'draft',
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark',
    scale: 2,
  },
  {
    name: 'doubt',
    state: 'doubt',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    scale: 1,
  },
]

const MOST_BYTES = 150 * 1_024

const FOLDER = join(import.meta.dir, '../../../docs/pictures')

/** Returns what is wrong with them, as sentences. */
export const takeForReadme = async (browser: Browser, scene: Scene): Promise<string[]> => {
  const problems: string[] = []
  for (const { name, state: of, viewport, colorScheme, scale } of PICTURES) {
    const state = states.find((one) => one.name === of)!
    const options = {
      viewport,
      colorScheme,
      deviceScaleFactor: scale,
      reducedMotion: 'reduce',
    } as const
    const context = await browserOf(browser, scene.app, scene.people.ines, options)
    const page = await openTab(context, scene.app, state.path(scene))
    await state.reach(page, scene)
    await page.evaluate('document.fonts.ready')
    const path = join(FOLDER, `${name}.png`)
    const picture = smallPng(await page.screenshot())
    await Bun.write(path, picture)
    if (picture.length > MOST_BYTES) problems.push(`${name}.png has ${picture.length} bytes`)
    await context.close()
  }
  return problems
}
