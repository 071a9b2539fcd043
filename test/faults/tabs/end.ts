/** What must be so when it is over. */
import type { Page } from 'playwright-core'
import { countIn } from '../ledger.ts'
import { sendByKey, type Writing } from './commits.ts'
import type { Happened } from './complaints.ts'
import type { Stage } from './scenes.ts'
import type { TwoServers } from './servers.ts'
import { checkTyped, type Typist } from './typists.ts'

interface Ending {
  writing: Writing
  pages: ReadonlyMap<string, Page>
  typists: readonly Typist[]
}

const SETTLED_MS = 5_000

const isSignedIn = async (page: Page): Promise<boolean> =>
  (await page.locator('main h1').count()) > 0 &&
  new URL(page.url()).pathname.startsWith('/console') &&
  (await page.evaluate<number>('fetch("/api/v1/app/session").then((r) => r.status)')) === 200

/** The marks of what waits, in the list's order. */
const waitingMarks = async (writing: Writing): Promise<string[]> => {
  const { body } = await sendByKey(writing, 'GET', '../inbox')
  return body.entries.map(({ title }: { title: string }) => /\bk\d+\b/.exec(title)?.[0])
}

/** Decisions that were said and are not in the database. */
const lostDecisions = async ({ servers, decided, wrong }: Writing): Promise<number> => {
  const ids = [...decided.keys()]
  const rows = await servers.owner<{ id: string; status: string }[]>`
    select id, status from item where id = any(${ids}::uuid[])`
  const stored = new Map(rows.map(({ id, status }) => [id, status]))
  const lost = ids.filter((id) => stored.get(id) !== decided.get(id))
  for (const id of lost) wrong.push(`${id} is ${stored.get(id)}, not ${decided.get(id)}`)
  return lost.length
}

/** How often what must never happen did. */
export const endOf = async ({ writing, pages, typists }: Ending) => {
  await Bun.sleep(SETTLED_MS)
  const waiting = await waitingMarks(writing)
  const { owner } = writing.servers
  let [signedOut, different] = [0, 0]
  for (const [tab, page] of pages) {
    if (!(await isSignedIn(page))) signedOut++
    const { rows } = writing.watch.now.get(tab)!
    if (Bun.deepEquals(rows, waiting)) continue
    different++
    writing.wrong.push(`${tab} shows ${rows}, and ${waiting} wait`)
  }
  for (const typist of typists)
    await checkTyped(typist).catch((cause) => typist.lost.add(String(cause)))
  const lost = typists.flatMap((typist) => [...typist.lost])
  writing.wrong.push(...lost)
  return {
    signed_out: signedOut,
    different_tabs: different,
    lost_words: lost.length,
    lost_decisions: await lostDecisions(writing),
    doubled_decisions: await countIn(owner`select count(*)::int as n from
      (select 1 from audit where operation in ('growth.items.approve', 'growth.items.reject')
        group by ref_id having count(*) > 1) d`),
  }
}

const LIFE_MS = 15 * 60_000
/** Tabs are refused for this long at most before one of them renews the session. */
const REFUSED_MS = 5_000

/** Each end of a token leads to one renewal of the session, whichever tabs notice it. */
export const renewalsOf = (
  { ends: brought }: Stage,
  { address }: TwoServers,
  session: string,
): { counts: Record<string, number>; broken: string[]; natural?: Happened } => {
  const renewals = address.renewals.filter((renewal) => renewal.session === session)
  const last = renewals.at(-1)?.at ?? 0
  const broken: string[] = []
  const ends = [...brought]
  // The one that was not brought about.
  const natural = renewals.find(({ at }) => at > (brought.at(-1) ?? 0) + LIFE_MS - 10_000)
  if (natural) ends.push(natural.at)
  for (const [nth, from] of ends.entries()) {
    const to = ends[nth + 1] ?? Number.POSITIVE_INFINITY
    const of = renewals.filter(({ at }) => at >= from && at < to)
    if (of.length !== 1 || of[0]!.status !== 200)
      broken.push(
        `the end of token ${nth + 1} led to ${of.length} renewals: ${of.map(({ status, generation }) => `${status} of ${generation}`)}`,
      )
  }
  if (renewals.some(({ at }) => at < (ends[0] ?? last)))
    broken.push('a session was renewed before its token had ended')
  return {
    counts: { token_ends: ends.length, natural_ends: natural ? 1 : 0, renewals: renewals.length },
    broken,
    ...(natural && {
      natural: { name: 'token', from: natural.at - REFUSED_MS, to: natural.at },
    }),
  }
}
