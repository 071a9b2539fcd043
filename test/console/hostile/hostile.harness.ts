/**
 * Every state of the console with hostile texts in every field of its records and its forms, in
 * Chromium at 320, 390 and 1280 pixels: nothing runs, nothing becomes wider than the screen, no
 * control is covered or out of reach, and each field can be read to its end. `npm run
 * console:hostile`; `ONLY=draft` takes the states whose names begin so, `ROUND=blank` one kind of
 * texts, and `SCREENSHOTS=dir` saves pictures.
 */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { browserOf, lookAs, openTab } from '#test/support/console/tab'
import { browserPath, launchBrowser, type TestBrowser } from '#test/support/http/browser'
import { type Verdict, verdictOn } from '../../faults/ledger.ts'
import { alone } from '../../faults/own-database.ts'
import type { PicturedState } from '../pictures/state.ts'
import { states } from '../pictures/states.ts'
import { openScene, type Scene } from '../pictures/workspace.ts'
import { noteAnswers } from './answers.ts'
import { fillAll } from './fields.ts'
import { fillForms, unfoldAll, unlistedForms } from './forms.ts'
import { addMore } from './more-records.ts'
import { moreStates } from './more-states.ts'
import { type Looked, newSightings, type Sightings, unseenIn } from './sightings.ts'
import { type Round, rounds } from './texts.ts'

/** As wide as a state is reached in comes first. */
const WIDTHS = [1280, 390, 320]
const PATIENCE_MS = 15_000
/** For a state at all widths. */
const LONGEST_STATE_MS = 60_000
const LONGEST_MS = 600_000
const LOOK = await Bun.file(join(import.meta.dir, 'look.browser.js')).text()
const TRAP = `globalThis.ranTimes = 0
  globalThis.ran = () => { ranTimes++ }
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error('policy ' + violatedDirective + ' ' + blockedURI))`
const FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

const pictures = process.env.SCREENSHOTS

interface Walk {
  browser: TestBrowser
  scene: Scene
  sightings: Sightings
}

interface Visit {
  state: PicturedState
  round: Round
}

const lookAtWidths = async (page: Page, name: string, { seen, whole }: Sightings) => {
  const found: string[] = []
  for (const width of WIDTHS) {
    await lookAs(page, { width, colours: 'light' })
    await page.evaluate(FRAMES)
    const looked = await page.evaluate<Looked>(LOOK)
    found.push(...looked.flaws.map((flaw) => `${width} px: ${flaw}`))
    for (const field of looked.seen) seen.add(field)
    for (const field of looked.whole) whole.add(`${field} at ${width} px`)
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${width}.png`) })
  }
  return found
}

/** As it is reached, and then with all unfolded and all forms filled. */
const lookAt = async (page: Page, { scene, sightings }: Walk, { state, round }: Visit) => {
  await state.reach(page, scene)
  const name = `${state.name}-${round}`
  const found = await lookAtWidths(page, name, sightings)
  await lookAs(page, { width: WIDTHS[0]!, colours: 'light' })
  await unfoldAll(page)
  const filled = await fillForms(page, round, state.name === 'inbox')
  for (const field of filled) sightings.filled.add(field)
  return [...found, ...(await lookAtWidths(page, `${name}-filled`, sightings))]
}

const inTime = <T>(work: Promise<T>, ms: number): Promise<T> =>
  Promise.race([
    work,
    Bun.sleep(ms).then(() => {
      throw new Error(`not done after ${ms} ms`)
    }),
  ])

const firstLine = (cause: unknown): string => String((cause as Error).message).split('\n', 1)[0]!

/** In a browser of its own, where nothing has been typed. */
const visit = async (walk: Walk, visited: Visit): Promise<string[]> => {
  const { scene, browser, sightings } = walk
  const { state, round } = visited
  const { app, story, waits, people } = scene
  await fillAll(app.owner, { tenantId: story.tenantId, ...waits }, round)
  const context = await browserOf(browser, app, people[state.as ?? 'ines'], {
    reducedMotion: 'reduce',
  })
  const found: string[] = []
  try {
    noteAnswers(context, sightings.given)
    await context.addInitScript(TRAP)
    const page = await openTab(context, app, state.path(scene))
    page.setDefaultTimeout(PATIENCE_MS)
    found.push(...(await inTime(lookAt(page, walk, visited), LONGEST_STATE_MS)))
  } catch (cause) {
    found.push(`not reached: ${firstLine(cause)}`)
  } finally {
    await context.close()
  }
  const told = context.complaints.filter(
    (one) => !(state.reads404 && one.includes('404 (Not Found)')),
  )
  return [...new Set([...found, ...told])].map((flaw) => `${state.name}, ${round}: ${flaw}`)
}

const { ONLY = '', ROUND = '' } = process.env

const walkAll = async (walk: Walk): Promise<string[]> => {
  const walked = [...states, ...moreStates].filter(({ name }) => name.startsWith(ONLY))
  const flaws: string[] = []
  const end = performance.now() + LONGEST_MS
  for (const round of rounds.filter((one) => one.startsWith(ROUND)))
    for (const state of walked) {
      const begun = performance.now()
      if (begun > end) return [...flaws, `not all was reached within ${LONGEST_MS} ms`]
      const found = await visit(walk, { state, round })
      flaws.push(...found)
      const took = Math.round(performance.now() - begun)
      console.log(`${round} ${state.name}: ${found.length === 0 ? 'ok' : 'FLAWED'}, ${took} ms`)
    }
  return flaws
}

const runHostile = async (): Promise<Verdict> => {
  await using stack = new AsyncDisposableStack()
  const path = browserPath()
  if (!path) throw new Error('there is no Chromium; CHROMIUM may name one')
  const scene = stack.use(await openScene())
  const browser = await launchBrowser(path)
  stack.defer(() => browser.close())
  await addMore(scene)
  const sightings = newSightings()
  const flaws = [...(await unlistedForms()), ...(await walkAll({ browser, scene, sightings }))]
  if (ONLY === '' && ROUND === '') flaws.push(...unseenIn(sightings, WIDTHS))
  const { seen, filled } = sightings
  return verdictOn({
    counts: {
      states: states.length + moreStates.length,
      fields: seen.size + filled.size,
      widths: WIDTHS.length,
      flaws: flaws.length,
    },
    broken: flaws,
  })
}

await alone('console:hostile', {}, runHostile)
