/** Every state of the console, and how a person gets there. */
import type { Page } from 'playwright-core'
import type { PicturedState } from './state.ts'
import type { Scene } from './workspace.ts'

const entry =
  (kind: string, id: (scene: Scene) => string) =>
  (scene: Scene): string =>
    `/console/inbox/${kind}/${id(scene)}`

const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name }).waitFor()
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name }).first().waitFor()

const draft = entry('draft', ({ waits }) => waits.draft)
const post = (page: Page) => page.getByLabel('The post').waitFor()

const drafts: PicturedState[] = [
  {
    name: 'inbox',
    path: () => '/console/inbox',
    reach: (page) => page.locator('.row').nth(5).waitFor(),
  },
  { name: 'draft', path: draft, reach: (page) => button(page, /^Approve \w{3} \d/) },
  {
    name: 'draft-edited',
    path: entry('draft', ({ waits }) => waits.other),
    async reach(page) {
      await post(page)
      await page.keyboard.press('e')
      await page.keyboard.type('\n\nHow we counted: dockside.example/gate #logistics')
      await says(page, 'Your changes')
    },
  },
  {
    name: 'draft-rejecting',
    path: draft,
    async reach(page) {
      await button(page, 'Reject')
      await page.keyboard.press('x')
      await button(page, 'Not true')
    },
  },
  {
    name: 'draft-more',
    path: draft,
    async reach(page) {
      await button(page, /^Approve \w{3} \d/)
      await page.getByRole('button', { name: 'More to do with this draft' }).click()
      await button(page, 'Duplicate')
    },
  },
  {
    name: 'draft-post-now',
    path: draft,
    async reach(page) {
      await button(page, /^Approve \w{3} \d/)
      await page.keyboard.press('p')
      await dialog(page, /^Post now as/)
    },
  },
  {
    name: 'draft-redraft',
    path: draft,
    async reach(page) {
      await button(page, /^Approve \w{3} \d/)
      await page.keyboard.press('r')
      await dialog(page, 'Have it written again')
    },
  },
  {
    name: 'draft-too-long',
    path: entry('draft', ({ waits }) => waits.byHand),
    async reach(page) {
      await page
        .getByLabel('The post')
        .fill(`${'Two weeks on a forklift route. '.repeat(10)}Apply.`)
      await says(page, 'It has 316 characters')
    },
  },
  {
    name: 'draft-asked-about',
    path: entry('draft', ({ waits }) => waits.asked),
    reach: (page) => says(page, 'The agent asks to approve this.'),
  },
  {
    name: 'draft-of-viewer',
    as: 'vera',
    path: draft,
    async reach(page) {
      await button(page, /^Approve \w{3} \d/)
      await page.keyboard.press('s')
      await says(page, 'may do this')
    },
  },
  {
    name: 'article',
    path: entry('article', ({ waits }) => waits.article),
    reach: (page) => button(page, /^Approve/),
  },
  {
    name: 'together',
    path: draft,
    async reach(page) {
      await post(page)
      for (const index of [0, 1, 2])
        await page.locator('.row-select input').nth(index).press('Space')
      await says(page, '3 selected')
    },
  },
  {
    name: 'write',
    path: () => '/console/inbox',
    async reach(page) {
      await page.locator('.row').first().waitFor()
      await page.keyboard.press('c')
      await dialog(page, 'Write a post')
      await page.keyboard.type('A dock that is free and not known to be free is a closed dock.')
    },
  },
]

const others: PicturedState[] = [
  {
    name: 'engagement',
    path: entry('engagement', ({ waits }) => waits.engagement),
    reach: (page) => page.getByLabel('The reply').waitFor(),
  },
  {
    name: 'engagement-asks',
    path: entry('engagement', ({ waits }) => waits.engagement),
    async reach(page) {
      await page.getByLabel('The reply').waitFor()
      await page.keyboard.press('s')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'call',
    path: entry('call', ({ waits }) => waits.call),
    reach: (page) => button(page, 'Allow once'),
  },
  {
    name: 'call-remember',
    path: entry('call', ({ waits }) => waits.fetch),
    async reach(page) {
      await button(page, 'Allow once')
      await page.locator('.remember').waitFor()
    },
  },
  {
    name: 'call-refusing',
    path: entry('call', ({ waits }) => waits.call),
    async reach(page) {
      await button(page, 'Allow once')
      await page.keyboard.press('x')
      await dialog(page, 'Refuse this call?')
      await page.keyboard.type('Not before the launch on Thursday')
    },
  },
  {
    name: 'reply',
    path: entry('reply', ({ waits }) => waits.reply),
    reach: (page) => button(page, 'Discard'),
  },
  {
    name: 'reply-edited',
    path: entry('reply', ({ waits }) => waits.reply),
    async reach(page) {
      await button(page, 'Discard')
      await page.keyboard.press('e')
      await page.getByLabel('Your text, in Markdown').waitFor()
    },
  },
  {
    name: 'reply-discarding',
    path: entry('reply', ({ waits }) => waits.reply),
    async reach(page) {
      await button(page, 'Discard')
      await page.keyboard.press('x')
      await dialog(page, 'Discard this reply?')
    },
  },
  {
    name: 'doubt',
    path: entry('doubt', ({ waits }) => waits.doubt),
    reach: (page) => says(page, 'What the timeline showed'),
  },
  {
    name: 'doubt-there',
    path: entry('doubt', ({ waits }) => waits.doubt),
    async reach(page) {
      await page.getByRole('heading', { name: 'Nobody knows yet' }).waitFor()
      await page.keyboard.press('y')
      await page.getByLabel('Its address').waitFor()
    },
  },
  {
    name: 'doubt-again',
    path: entry('doubt', ({ waits }) => waits.doubt),
    async reach(page) {
      await page.getByRole('heading', { name: 'Nobody knows yet' }).waitFor()
      await page.keyboard.press('p')
      await button(page, 'Read, then post')
    },
  },
  {
    name: 'refused',
    path: entry('refused', ({ waits }) => waits.refused),
    reach: (page) => page.getByRole('heading', { name: 'The network refused it' }).waitFor(),
  },
  {
    name: 'playbook',
    path: ({ waits: { playbook } }) =>
      `/console/inbox/playbook/${playbook.version}?of=${playbook.id}`,
    reach: (page) => page.locator('ins').first().waitFor(),
  },
  {
    name: 'tool-change',
    path: entry('tool_change', ({ waits }) => waits.tool),
    reach: (page) => says(page, 'What has changed since'),
  },
  {
    name: 'gone',
    reads404: true,
    path: () => '/console/inbox/draft/01a21e07-0000-7000-8000-000000000000',
    reach: (page) => says(page, /not found|no such/i),
  },
]

const frame: PicturedState[] = [
  {
    name: 'palette',
    path: () => '/console/inbox',
    async reach(page) {
      await page.locator('.row').first().waitFor()
      await page.keyboard.press('Control+k')
      await dialog(page, 'Places and commands')
    },
  },
  {
    name: 'help',
    path: draft,
    async reach(page) {
      await button(page, /^Approve \w{3} \d/)
      await page.keyboard.press('?')
      await dialog(page, 'Keys of this page')
    },
  },
  {
    name: 'nowhere',
    path: () => '/console/nowhere',
    reach: (page) => says(page, 'Nothing is here'),
  },
  {
    name: 'settings-keys',
    path: () => '/console/settings/keys',
    reach: (page) => button(page, 'Make a key'),
  },
  {
    name: 'settings-key-form',
    path: () => '/console/settings/keys',
    async reach(page) {
      await page.getByRole('button', { name: 'Make a key' }).click()
      await button(page, 'Make the key')
    },
  },
  {
    name: 'settings-webhook',
    path: () => '/console/settings/webhook',
    reach: (page) => page.getByLabel('Address').waitFor(),
  },
  {
    name: 'settings-channels',
    path: () => '/console/settings/channels',
    reach: (page) => button(page, 'Link your sender'),
  },
  {
    name: 'settings-code',
    path: () => '/console/settings/channels',
    async reach(page) {
      await page.getByRole('button', { name: 'Link your sender' }).click()
      await says(page, 'Your code')
    },
  },
  {
    name: 'settings-browser',
    path: () => '/console/settings/browser',
    reach: (page) => page.getByRole('heading', { level: 2, name: 'This browser' }).waitFor(),
  },
]

export const states: PicturedState[] = [...drafts, ...others, ...frame]
