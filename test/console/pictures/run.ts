/**
 * Walks every state of the console in a real browser: axe-core finds nothing at 320, 390 and 1280
 * px in light, dark and forced colours, and each is saved as a picture. `npm run pictures -- DIR`;
 * `--only draft` takes the states whose names begin so, `--plain` leaves axe out. The three
 * pictures of README.md are taken anew each time.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browserOf, EVERY_LOOK, flawsAt, loadAxe, lookAs, openTab } from '#test/support/console/tab'
import { browserPath, launchBrowser } from '#test/support/http/browser'
import { withTemplate } from '../../faults/own-database.ts'
import { takeForReadme } from './readme.ts'
import type { PicturedState } from './state.ts'
import { states } from './states.ts'
import { openScene, type Scene } from './workspace.ts'

interface Walk {
  folder: string
  only: string
  plain: boolean
}

/** A desk of 1280 × 800 px whose user has enlarged the page to 200 %. */
const ENLARGED = { width: 640, height: 400 }

const CUT_OFF = `[...document.querySelectorAll('button, a[href], input, select, textarea')]
  .filter((one) => one.checkVisibility() && !one.closest('.unseen, .skip, [inert]'))
  .filter((one) => {
    one.scrollIntoView({ block: 'nearest' })
    const { left, right, top, bottom } = one.getBoundingClientRect()
    const isShown = getComputedStyle(one).clipPath === 'none' && right - left > 1
    return isShown && (left < 0 || right > innerWidth || top < 0 || (bottom > innerHeight && top > 0))
  })
  .filter((one) => one.closest('.tabs, .settings > nav') === null && one.tagName !== 'TEXTAREA')
  .map((one) => 'cut off: ' + one.outerHTML.slice(0, 120))`

const flawsEnlarged = async (page: Page): Promise<string[]> => {
  await page.setViewportSize(ENLARGED)
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
  const cut = await page.evaluate<string[]>(CUT_OFF)
  return wide > ENLARGED.width ? [`it is ${wide} wide`, ...cut] : cut
}

const PATIENCE_MS = 20_000

const visit = async (
  context: BrowserContext,
  { scene, state, walk }: { scene: Scene; state: PicturedState; walk: Walk },
): Promise<string[]> => {
  const page = await openTab(context, scene.app, state.path(scene))
  page.setDefaultTimeout(PATIENCE_MS)
  const flaws: string[] = []
  try {
    await state.reach(page, scene)
    if (!walk.plain) await loadAxe(page)
    for (const look of EVERY_LOOK) {
      const { colours, width } = look
      if (walk.plain) await lookAs(page, look)
      else for (const flaw of await flawsAt(page, look)) flaws.push(`${colours} ${width}: ${flaw}`)
      await page.screenshot({ path: join(walk.folder, `${state.name}-${colours}-${width}.png`) })
    }
    flaws.push(...(await flawsEnlarged(page)).map((flaw) => `200 %: ${flaw}`))
    await page.screenshot({ path: join(walk.folder, `${state.name}-enlarged.png`) })
  } catch (cause) {
    await page.screenshot({ path: join(walk.folder, `${state.name}-failed.png`) })
    flaws.push((cause as Error).message)
  }
  await page.close()
  return flaws
}

const walkAll = async (browser: Browser, scene: Scene, walk: Walk): Promise<string[]> => {
  const problems: string[] = []
  for (const state of states.filter(({ name }) => name.startsWith(walk.only))) {
    const context = await browserOf(browser, scene.app, scene.people[state.as ?? 'ines'])
    const begun = performance.now()
    const flaws = await visit(context, { scene, state, walk })
    console.log(
      state.name,
      flaws.length === 0 ? 'ok' : 'FLAWED',
      `${Math.round(performance.now() - begun)} ms`,
    )
    const told = context.complaints.filter(
      (one) => !(state.reads404 && one.includes('404 (Not Found)')),
    )
    for (const flaw of [...flaws, ...told]) {
      console.log(`  ${flaw}`)
      problems.push(`${state.name}: ${flaw}`)
    }
    await context.close()
  }
  return problems
}

const run = async (walk: Walk): Promise<number> => {
  await mkdir(walk.folder, { recursive: true })
  await using scene = await openScene()
  const browser = await launchBrowser(browserPath() ?? '')
  const problems = [
    ...(await walkAll(browser, scene, walk)),
    ...(await takeForReadme(browser, scene)),
  ]
  await browser.close()
  console.log(`pictures: ${problems.length === 0 ? 'ok' : `${problems.length} flaws`}`)
  return problems.length === 0 ? 0 : 1
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, plain: { type: 'boolean', default: false } },
})
process.exit(
  await withTemplate(() =>
    run({ folder: positionals[0] ?? 'pictures', only: values.only, plain: values.plain }),
  ),
)
