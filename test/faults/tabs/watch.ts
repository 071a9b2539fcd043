/** What each tab shows, as it changes, and when it shows a commit. */
import type { BrowserContext } from 'playwright-core'

/** What a tab shows at some time. */
export interface Shown {
  at: number
  /** The marks in the list's rows; null while there is no list. */
  rows: string[] | null
  automation: 'paused' | 'running' | null
  /** Whether it says that the server has a newer console. */
  saysNewer: boolean
  /** When its page began to load. */
  began: number
  /** The script of the worker whose stream the tab follows, and that of the page. */
  worker: string
  build: string
}

/** One page of a tab with the list. */
export interface PageLoad {
  tab: string
  /** Since when the tab no longer showed the list of the page before. */
  began: number
  /** When it first showed the list. */
  at: number
  worker: string
}

export interface Commit {
  what: string
  /** When the request that did it was sent, and when it was answered. */
  sent: number
  answered: number
  isShown(shown: Shown): boolean
  /** When each tab showed it, by the tab's name. */
  seen: Map<string, number>
}

export interface Watch {
  commits: Commit[]
  /** The last that each tab showed. */
  now: Map<string, Shown>
  /** In their order. */
  loads: PageLoad[]
  /** Pages that said that the server has a newer console, by tab and time. */
  saidNewer: Set<string>
  add(commit: Omit<Commit, 'seen'>): Commit
  hasEverybody(commit: Commit): boolean
}

/** Runs in each page before its scripts, and tells what is shown whenever that changes. */
const look = (): void => {
  const page = globalThis as unknown as {
    // biome-ignore lint/suspicious/noExplicitAny: this file is checked without a browser's types
    document: any
    // biome-ignore lint/suspicious/noExplicitAny: as above
    MutationObserver: any
    performance: { timeOrigin: number }
    told(shown: object): void
  }
  const { document } = page
  const began = page.performance.timeOrigin
  const rowsIn = (): string[] | null => {
    const list = document.querySelector('.inbox-list .list')
    if (!list) return null
    const titles = [...list.querySelectorAll('.row-title')].map((row) => String(row.textContent))
    return titles.flatMap((title) => /\bk\d+\b/.exec(title)?.[0] ?? [])
  }
  const automationIn = (): string | null => {
    const text = document.querySelector('.automation p')?.textContent
    if (!text) return null
    return text.includes('Paused') ? 'paused' : 'running'
  }
  let last = ''
  const tell = (): void => {
    const boot = document.getElementById('boot')
    if (!boot) return
    const { worker, build } = JSON.parse(boot.textContent)
    const saysNewer = document.querySelector('main h1')?.textContent === 'A newer console'
    const [rows, automation] = [rowsIn(), automationIn()]
    const shown = { rows, automation, saysNewer, began, worker, build }
    const text = JSON.stringify(shown)
    if (text === last) return
    last = text
    page.told({ at: Date.now(), ...shown })
  }
  new page.MutationObserver(tell).observe(document, {
    childList: true,
    subtree: true,
    characterData: true,
  })
}

export const watchTabs = async (
  context: BrowserContext,
  names: readonly string[],
  nameOf: (page: object) => string | undefined,
): Promise<Watch> => {
  const commits: Commit[] = []
  const open = new Set<Commit>()
  const now = new Map<string, Shown>()
  const loads: PageLoad[] = []
  const saidNewer = new Set<string>()
  const hasEverybody = ({ seen }: Commit): boolean => names.every((name) => seen.has(name))
  const check = (commit: Commit, tab: string, shown: Shown): void => {
    if (commit.seen.has(tab) || !commit.isShown(shown)) return
    commit.seen.set(tab, Math.max(shown.at, commit.sent))
    if (hasEverybody(commit)) open.delete(commit)
  }
  const blindSince = new Map<string, number>()
  const noteLoad = (tab: string, { rows, at, began, worker }: Shown): void => {
    const before = now.get(tab)
    const isNew = before?.began !== began
    if (rows === null) {
      if (!blindSince.has(tab)) blindSince.set(tab, isNew ? began : at)
    } else if (isNew || before.rows === null) {
      loads.push({
        tab,
        began: Math.min(blindSince.get(tab) ?? at, isNew ? began : at),
        at,
        worker,
      })
      blindSince.delete(tab)
    }
  }
  await context.exposeBinding('told', ({ page }, shown: Shown) => {
    const tab = nameOf(page)
    if (tab === undefined) return
    noteLoad(tab, shown)
    now.set(tab, shown)
    if (shown.saysNewer) saidNewer.add(`${tab} ${shown.began}`)
    for (const commit of open) check(commit, tab, shown)
  })
  await context.addInitScript(look)
  return {
    commits,
    now,
    loads,
    saidNewer,
    hasEverybody,
    add(given) {
      const commit = { ...given, seen: new Map() }
      commits.push(commit)
      open.add(commit)
      for (const [tab, shown] of now) check(commit, tab, shown)
      return commit
    },
  }
}
