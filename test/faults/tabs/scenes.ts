/** What befalls eight tabs, one scene after the other. */
import type { Page } from 'playwright-core'
import { makeOtherBuild } from './builds.ts'
import { sendByKey, type Writing } from './commits.ts'
import type { Happened } from './complaints.ts'
import { endAccess, type Visitor } from './people.ts'
import { countOut, kill, otherSeat, ownerSeat, type Seat, start, terminate } from './servers.ts'
import { checkTyped, type Typist, withTab } from './typists.ts'

export interface Stage {
  writing: Writing
  visitors: readonly Visitor[]
  typists: readonly Typist[]
  /** A tab without a typist. */
  reader: Page
  /** Where another build may lie. */
  folder: string
  happened: Happened[]
  /** When tokens were ended. */
  ends: number[]
}

interface Scene {
  name: string
  /** When it begins, as a share of the whole run. */
  at: number
  play(stage: Stage): Promise<void>
}

const restart = async ({ writing: { servers } }: Stage, seat: Seat): Promise<void> => {
  await terminate(servers, seat)
  await start(servers, seat)
}

const endTokens = async ({ visitors, writing, ends }: Stage): Promise<void> => {
  ends.push(Date.now())
  for (const visitor of visitors) await endAccess(visitor, writing.servers.address.url)
}

const SAYS_MS = 60_000

const buildOf = (page: Page): Promise<string> =>
  page.evaluate('JSON.parse(document.getElementById("boot").text).build')

/**
 * Goes to a page of the build that is gone, and comes back once the tab has begun anew. No tab may
 * have loaded that page before, or the browser would still have it.
 */
const visitMissingPage = async (page: Page): Promise<void> => {
  const before = await buildOf(page)
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor({ timeout: SAYS_MS })
  if ((await buildOf(page)) === before) throw new Error('the tab has the same build as before')
  await page.getByRole('link', { name: /^Inbox/ }).click()
  await page.locator('.inbox-list .list').waitFor({ timeout: SAYS_MS })
}

const upgrade = async (stage: Stage): Promise<void> => {
  const { writing, typists, reader } = stage
  const { servers } = writing
  const old = servers.seats.find(({ program }) => program === undefined)!
  old.program = otherSeat(servers, old).program
  await restart(stage, old)
  const leaving = typists.map((typist) =>
    withTab(typist, async () => {
      await visitMissingPage(typist.page)
      await typist.open(typist.page)
      await checkTyped(typist)
    }),
  )
  await Promise.all([...leaving, visitMissingPage(reader)])
}

const MOST_TRIES = 10

/** One of two servers is upgraded already. A tab gets the new page, and its files from anywhere. */
const twoBuilds = async ({ writing, folder, reader }: Stage): Promise<void> => {
  const { servers } = writing
  const seat = otherSeat(servers, await ownerSeat(servers))
  await terminate(servers, seat)
  seat.program = await makeOtherBuild(folder)
  await start(servers, seat)
  const [tab, before] = [await reader.context().newPage(), await buildOf(reader)]
  const isNew = async () => (await buildOf(tab)) !== before
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await tab.goto(`${servers.address.url}/console/inbox`)
    await tab.locator('.inbox-list .list').waitFor({ timeout: SAYS_MS })
    if (await isNew()) break
  }
  if (!(await isNew())) throw new Error('no page came from the server that is upgraded')
  await tab.locator('.row').first().click()
  await tab.locator('.pane-body .post').waitFor({ timeout: SAYS_MS })
  await tab.close()
}

/** The text in which somebody types gets another first line. */
const editElsewhere = async ({ writing, typists }: Stage): Promise<void> => {
  const typist = typists[1]!
  const { page } = typist
  await withTab(typist, async () => {
    const id = new URL(page.url()).pathname.split('/').at(-1)!
    const { body } = await sendByKey(writing, 'GET', `items/${id}`)
    const { item } = body
    await sendByKey(writing, 'PATCH', `items/${id}`, {
      body: `${item.body} And this.`,
      revision: item.revision,
    })
    await page.getByRole('alert', { name: 'Two texts' }).waitFor({ timeout: SAYS_MS })
    await checkTyped(typist)
    await page.getByRole('button', { name: 'Go on with yours' }).click()
    await checkTyped(typist)
  })
}

/** Nobody answers for a while, and a tab asks for a page that it has not loaded yet. */
const away = async ({ writing: { servers }, reader }: Stage): Promise<void> => {
  await reader.getByRole('link', { name: 'Settings' }).click()
  await reader.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  servers.address.close()
  await reader.getByRole('link', { name: 'Webhook' }).click()
  await Bun.sleep(4_000)
  servers.address.open()
  await reader.getByRole('heading', { level: 2, name: 'Webhook' }).waitFor({ timeout: SAYS_MS })
  await reader.getByRole('link', { name: /^Inbox/ }).click()
  await reader.locator('.inbox-list .list').waitFor({ timeout: SAYS_MS })
}

const killBoth = async ({ writing: { servers } }: Stage): Promise<void> => {
  for (const seat of servers.seats) await kill(servers, seat)
  await Promise.all(servers.seats.map((seat) => start(servers, seat)))
}

const killOwner = async ({ writing: { servers } }: Stage): Promise<void> => {
  const seat = await ownerSeat(servers)
  await kill(servers, seat)
  await start(servers, seat)
}

/** Tokens last for 15 minutes: after the last end that is brought about, one comes by itself. */
const SCENES: readonly Scene[] = [
  { name: 'token', at: 0.02, play: endTokens },
  {
    name: 'restart',
    at: 0.06,
    play: async (stage) => {
      const { servers } = stage.writing
      await restart(stage, otherSeat(servers, await ownerSeat(servers)))
    },
  },
  { name: 'two builds', at: 0.1, play: twoBuilds },
  { name: 'token', at: 0.14, play: endTokens },
  { name: 'upgrade', at: 0.17, play: upgrade },
  { name: 'token', at: 0.21, play: endTokens },
  { name: 'cut', at: 0.3, play: async ({ writing }) => writing.servers.address.cut() },
  { name: 'kill', at: 0.36, play: killOwner },
  { name: 'edited elsewhere', at: 0.44, play: editElsewhere },
  { name: 'counted out', at: 0.5, play: ({ writing }) => countOut(writing.servers) },
  { name: 'away', at: 0.58, play: away },
  {
    name: 'owner restart',
    at: 0.66,
    play: async (stage) => restart(stage, await ownerSeat(stage.writing.servers)),
  },
  { name: 'frozen', at: 0.74, play: async ({ writing }) => writing.servers.address.freeze() },
  { name: 'kill both', at: 0.84, play: killBoth },
]

const SETTLE_MS = 4_000

/** Plays them all within this time; what fails in a scene is noted, and the next one follows. */
export const playScenes = async (stage: Stage, ms: number): Promise<void> => {
  const begun = Date.now()
  for (const { name, at, play } of SCENES) {
    await Bun.sleep(Math.max(SETTLE_MS, begun + at * ms - Date.now()))
    const scene: Happened = { name, from: Date.now(), to: Number.POSITIVE_INFINITY }
    stage.happened.push(scene)
    console.error(`${((Date.now() - begun) / 1_000).toFixed(0)} s: ${name}`)
    await play(stage).catch((cause) =>
      stage.writing.wrong.push(`${name}: ${String(cause).slice(0, 500)}`),
    )
    scene.to = Date.now()
  }
  await Bun.sleep(Math.max(SETTLE_MS, begun + ms - Date.now()))
}
