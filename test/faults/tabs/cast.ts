/** The eight tabs of one person, and what somebody does in each. */
import type { Page } from 'playwright-core'
import { type Draft, type Writing, writeDraft } from './commits.ts'
import type { Typist } from './typists.ts'

/** Names of tabs, which begin the words that are typed in them. */
export const TABS = ['list', 'fast', 'calm', 'slow', 'note', 'post', 'deciding', 'reader'] as const
export type TabName = (typeof TABS)[number]

const OPENS_MS = 60_000

export const showInbox = async (page: Page, url: string): Promise<void> => {
  page.setDefaultTimeout(OPENS_MS)
  await page.goto(`${url}/console/inbox`)
  await page.locator('.inbox-list .list').waitFor()
}

const chooseDraft = async (page: Page, { mark }: Pick<Draft, 'mark'>): Promise<void> => {
  await page.locator('.row', { hasText: new RegExp(`\\b${mark} `) }).click()
  await page.locator('.pane-body .post').waitFor()
}

const BODY = '.pane-body .post-text'
const COMMENT = '.pane-body textarea[name=comment]'
const NEW_POST = 'dialog textarea[name=body]'

const newTypist = (
  tab: TabName,
  page: Page,
  more: Pick<Typist, 'field' | 'paceMs' | 'open'>,
): Typist => ({ tab, page, words: [], lost: new Set(), isBusy: false, ...more })

/** Milliseconds between words. A pause of 20 s saves a draft. */
const PACES = { fast: 2_500, calm: 7_000, slow: 26_000, note: 5_000, post: 6_000 }

/** Each with a draft of its own, or a new post. */
export const newTypists = async (
  writing: Writing,
  pages: ReadonlyMap<TabName, Page>,
): Promise<Typist[]> => {
  const typists: Typist[] = []
  for (const tab of ['fast', 'calm', 'slow', 'note'] as const) {
    const draft = await writeDraft(writing)
    const field = tab === 'note' ? COMMENT : BODY
    const open = async (page: Page) => {
      await chooseDraft(page, draft)
      await page.locator(field).waitFor()
    }
    typists.push(newTypist(tab, pages.get(tab)!, { field, paceMs: PACES[tab], open }))
  }
  const open = async (page: Page) => {
    await page.keyboard.press('c')
    await page.locator(NEW_POST).waitFor()
  }
  typists.push(newTypist('post', pages.get('post')!, { field: NEW_POST, paceMs: PACES.post, open }))
  for (const typist of typists) await typist.open(typist.page)
  return typists
}
