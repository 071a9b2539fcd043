/**
 * Two tabs of one person in two workspaces, who share a session: one writes at the moment at which
 * the other moves the session away. What is written lands in the workspace that its tab shows, or
 * is refused, says so and is kept.
 */
import type { Browser, Page } from 'playwright-core'
import type { Passed } from './address.ts'
import { showInbox } from './cast.ts'
import { enterAs } from './people.ts'
import type { TwoServers } from './servers.ts'

interface Side {
  page: Page
  tenantId: string
  /** What it could not write the last time. */
  kept: string | undefined
}

interface Turns {
  servers: TwoServers
  sides: readonly [Side, Side]
  next(): number
  /** The workspace that each text was typed for. */
  meant: Map<string, string>
  /** Answers to writes, by the workspace that they named. */
  answers: Passed[]
  outcomes: Record<'written' | 'refused' | 'held', number>
  wrong: string[]
}

const FIELD = 'dialog textarea[name=body]'
const SAYS_MS = 60_000
/** How far apart the two things happen that are meant to happen at once. */
const APART_MS = 160

const elsewhereIn = (page: Page) => page.getByRole('dialog', { name: /^You are in / })

/** Opens the dialog for a new post, which must have what could not be written the last time. */
const typePost = async ({ wrong }: Turns, { page, kept }: Side, text: string): Promise<void> => {
  await page.keyboard.press('c')
  const field = page.locator(FIELD)
  await field.waitFor()
  const found = await field.inputValue()
  if (kept !== undefined && found !== kept) wrong.push(`${kept} was not kept: ${found}`)
  await field.fill(text)
}

const WORDS = { refused: 'is not in the workspace', held: 'You are in ' }

/** What became of a write, by what the tab says and by what was answered. */
const outcomeOf = async (
  { answers, wrong }: Turns,
  { page }: Side,
  text: string,
): Promise<keyof Turns['outcomes']> => {
  const answer = answers.at(-1)
  if (!answer) return 'held'
  if (answer.status === 201) return 'written'
  const says = await page.locator('.toast').allInnerTexts()
  if (answer.status !== 409 || !says.some((one) => one.includes(WORDS.refused)))
    wrong.push(`${text} was answered with ${answer.status}, and the tab says ${says}`)
  return 'refused'
}

const takeTurn = async (turns: Turns, nth: number): Promise<void> => {
  const { sides, meant, answers, outcomes, wrong, next } = turns
  const [writer, other] = nth % 2 === 0 ? sides : [sides[1], sides[0]]
  const text = `Text ${nth} of ${writer.tenantId}`
  meant.set(text, writer.tenantId)
  await typePost(turns, writer, text)
  answers.length = 0
  const back = elsewhereIn(other.page).getByRole('button', { name: /^Switch back to / })
  await back.waitFor({ timeout: SAYS_MS })
  const [first, second] = [next() * APART_MS, next() * APART_MS]
  await Promise.all([
    Bun.sleep(first).then(() => writer.page.keyboard.press('Control+Enter')),
    Bun.sleep(second).then(() => back.click()),
  ])
  await elsewhereIn(writer.page).waitFor({ timeout: SAYS_MS })
  await elsewhereIn(other.page).waitFor({ state: 'detached', timeout: SAYS_MS })
  await other.page.locator('main h1').waitFor({ timeout: SAYS_MS })
  const outcome = await outcomeOf(turns, writer, text)
  outcomes[outcome]++
  writer.kept = outcome === 'written' ? undefined : text
  if (outcome !== 'written' && (await writer.page.locator(FIELD).inputValue()) !== text)
    wrong.push(`${text} is no longer in its field`)
}

/** The second tab goes to the other workspace by the menu. */
const parted = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: /switch to another workspace/ }).click()
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).click()
  await page.getByRole('button', { name: new RegExp(`^${name}.*switch`) }).waitFor()
  await page.locator('main h1').waitFor()
}

/** Texts in another workspace than the one that their tab showed, and those that were lost. */
const misplaced = async ({ servers: { owner }, meant, outcomes }: Turns) => {
  const rows = await owner<{ tenant_id: string; body: string }[]>`
    select tenant_id, body from item where body = any(${[...meant.keys()]})`
  return {
    in_the_wrong_workspace: rows.filter((row) => meant.get(row.body) !== row.tenant_id).length,
    written_texts_lost: Math.max(0, outcomes.written - rows.length),
    refused_texts_written: Math.max(0, rows.length - outcomes.written),
  }
}

export const writeInTwoWorkspaces = async (
  browser: Browser,
  servers: TwoServers,
  { writes, next }: { writes: number; next(): number },
) => {
  const { address, home, other } = servers
  const tenants = [home.tenantId, other]
  const { context } = await enterAs(browser, servers, {
    name: 'Cleo',
    email: 'cleo@example.com',
    tenants,
  })
  const [one, two] = [await context.newPage(), await context.newPage()]
  for (const page of [one, two]) await showInbox(page, address.url)
  await parted(two, 'Elsewhere')
  const turns: Turns = {
    servers,
    sides: [
      { page: two, tenantId: other, kept: undefined },
      { page: one, tenantId: home.tenantId, kept: undefined },
    ],
    next,
    meant: new Map(),
    answers: [],
    outcomes: { written: 0, refused: 0, held: 0 },
    wrong: [],
  }
  address.listen((passed) => {
    if (passed.method !== 'POST' || passed.path !== '/api/v1/growth/items') return
    if (tenants.includes(passed.workspace)) turns.answers.push(passed)
  })
  try {
    for (let nth = 0; nth < writes; nth++) await takeTurn(turns, nth)
  } catch (cause) {
    turns.wrong.push(`after ${turns.meant.size} writes: ${String(cause).slice(0, 300)}`)
  }
  await context.close()
  return { outcomes: turns.outcomes, never: await misplaced(turns), wrong: turns.wrong }
}
