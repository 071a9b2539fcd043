/**
 * Eight tabs of one browser, in which somebody types, while others decide and two servers behind
 * one address are restarted, killed, upgraded and lose their workspaces to each other. Every tab
 * shows every commit in time; nobody is signed out; no word and no decision is lost; each end of a
 * token leads to one renewal. Then two tabs in two workspaces of one person write in turn.
 * `npm run fault:tabs -- --minutes 20 --writes 100 --seed 1`; MINUTES=3 is the short form.
 */
import { loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import { temporaryFolder } from '#test/support/folder'
import { browserPath, launchBrowser } from '#test/support/http/browser'
import { type Counts, type Ledger, type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { LIMITS, shareOf, type Times, timesOf } from './bounds.ts'
import { newTypists, showInbox, TABS, type TabName } from './cast.ts'
import { firstDrafts, goOnWriting, type Writing } from './commits.ts'
import { type Complaint, listenFor, sortComplaints } from './complaints.ts'
import { type Answered, type Decider, goOnDeciding, noteAnswers } from './deciding.ts'
import { endOf, renewalsOf } from './end.ts'
import { enterAs, type Visitor } from './people.ts'
import { playScenes, type Stage } from './scenes.ts'
import { startTwoServers, type TwoServers } from './servers.ts'
import { writeInTwoWorkspaces } from './two-workspaces.ts'
import { goOnTyping, type Typist } from './typists.ts'
import { watchTabs } from './watch.ts'

export interface TabsOptions {
  minutes: number
  /** Of two tabs in two workspaces. */
  writes: number
  seed: number
}

const MINUTE_MS = 60_000

const newWriting = (servers: TwoServers, watch: Writing['watch'], seed: number): Writing => ({
  servers,
  watch,
  next: numbers(seed),
  pool: [],
  marks: { count: 0 },
  automation: { isPaused: false, last: undefined },
  decided: new Map(),
  wrong: [],
})

const timesInWords = ({ ms }: Times): Counts =>
  Object.fromEntries(
    (Object.keys(LIMITS) as (keyof typeof LIMITS)[]).flatMap((rule) => [
      [`${rule}_n`, ms[rule].length],
      ...[0.5, 0.95, 0.99, 1].map((share) => [
        `${rule}_p${share * 100}_ms`,
        shareOf(ms[rule], share),
      ]),
    ]),
  )

interface Company {
  ada: Visitor
  ben: Visitor
  /** Of Ada. */
  pages: Map<TabName, Page>
  writing: Writing
  complaints: readonly Complaint[][]
}

/** Two people, of whom one has eight tabs. */
const gather = async (
  browser: Browser,
  servers: TwoServers,
  { seed }: TabsOptions,
): Promise<Company> => {
  const tenants = [servers.home.tenantId]
  const ada = await enterAs(browser, servers, { name: 'Ada', email: 'ada@example.com', tenants })
  const ben = await enterAs(browser, servers, { name: 'Ben', email: 'ben@example.com', tenants })
  const complaints = [listenFor(ada.context), listenFor(ben.context)]
  const pages = new Map<TabName, Page>()
  const nameOf = (page: object) => [...pages].find(([, one]) => one === page)?.[0]
  const watch = await watchTabs(ada.context, TABS, nameOf)
  const writing = newWriting(servers, watch, seed)
  await firstDrafts(writing)
  for (const tab of TABS) {
    const page = await ada.context.newPage()
    pages.set(tab, page)
    await showInbox(page, servers.address.url)
  }
  return { ada, ben, pages, writing, complaints }
}

const newDecider = (name: string, page: Page, paceMs: number): Decider => ({
  name,
  page,
  paceMs,
  said: 0,
  failed: 0,
})

interface Lived {
  stage: Stage
  typists: readonly Typist[]
  deciders: readonly Decider[]
}

/** Everybody goes on until the last scene is over. */
const liveThrough = async (
  { ada, ben, pages, writing }: Company,
  { minutes, folder }: { minutes: number; folder: string },
): Promise<Lived> => {
  const { servers, wrong } = writing
  const answered: Answered = new Map()
  servers.address.listen(noteAnswers(answered))
  const typists = await newTypists(writing, pages)
  const second = await ben.context.newPage()
  await showInbox(second, servers.address.url)
  const deciders = [
    newDecider('ada', pages.get('deciding')!, 9_000),
    newDecider('ben', second, 4_000),
  ]
  const over = new AbortController()
  const { signal } = over
  const busy = [
    goOnWriting(writing, signal),
    ...typists.map((typist) => goOnTyping(typist, signal, wrong)),
    ...deciders.map((decider) => goOnDeciding(writing, decider, { signal, answered })),
  ]
  const [visitors, reader] = [[ada, ben], pages.get('reader')!]
  const stage: Stage = { writing, visitors, typists, reader, folder, happened: [], ends: [] }
  if (minutes > 0) await playScenes(stage, minutes * MINUTE_MS)
  over.abort()
  await Promise.all(busy)
  return { stage, typists, deciders }
}

const sumOf = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0)

/** The verdict on the eight tabs. */
const ledgerOf = async (
  { ada, pages, writing, complaints }: Company,
  { stage, typists, deciders }: Lived,
): Promise<Ledger> => {
  const { watch, servers, wrong } = writing
  const never = await endOf({ writing, pages, typists })
  const { streams } = servers.address
  const { sessionId: session } = ada
  const { commits, loads, saidNewer } = watch
  const times = timesOf({ commits, tabs: TABS, loads, streams, session })
  const { natural, ...renewals } = renewalsOf(stage, servers, session)
  const happened = [...stage.happened, ...(natural ? [natural] : [])]
  const { expected, others } = sortComplaints(complaints.flat(), happened)
  return {
    counts: {
      tabs: TABS.length,
      scenes: stage.happened.length,
      commits: commits.length,
      ...timesInWords(times),
      late: times.late.length,
      words: sumOf(typists, ({ words }) => words.length),
      decided: sumOf(deciders, ({ said }) => said),
      decisions_failed: sumOf(deciders, ({ failed }) => failed),
      said_newer: saidNewer.size,
      ...renewals.counts,
      ...Object.fromEntries(Object.entries(expected).map(([name, n]) => [`console_${name}`, n])),
      ...never,
    },
    never: { ...never, console_messages: others.length },
    atStake: { ...(stage.happened.length > 0 && { said_newer: saidNewer.size }) },
    broken: [...renewals.broken, ...new Set(others)],
    wrong,
    late: times.late.slice(0, MOST_LATE),
  }
}

const MOST_LATE = 40

export async function runTabs(options: TabsOptions): Promise<Verdict> {
  const { minutes, writes, seed } = options
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(await temporaryFolder())
  const servers = stack.use(await startTwoServers())
  const browser = await launchBrowser(browserPath()!)
  stack.defer(() => browser.close())
  const company = await gather(browser, servers, options)
  const ledger = await ledgerOf(company, await liveThrough(company, { minutes, folder }))
  const load = loadavg()[1]!.toFixed(1)
  await company.ada.context.close()
  const { next } = company.writing
  const { outcomes, never, wrong } = await writeInTwoWorkspaces(browser, servers, { writes, next })
  const { written, refused } = outcomes
  return verdictOn({
    ...ledger,
    counts: { minutes, seed, ...ledger.counts, ...outcomes, ...never, load },
    never: { ...ledger.never, ...never },
    atStake: { ...ledger.atStake, ...(writes > 0 && { written, refused }) },
    wrong: [...ledger.wrong!, ...wrong],
  })
}

if (import.meta.main) {
  const minutes = Number(process.env.MINUTES ?? 20)
  await alone('tabs', { minutes, writes: 100, seed: 1 }, runTabs)
}
