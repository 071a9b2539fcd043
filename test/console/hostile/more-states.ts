/** States that only hostile texts need beside those of the pictures. */
import type { Page } from 'playwright-core'
import type { PicturedState } from '../pictures/state.ts'
import type { Scene } from '../pictures/workspace.ts'

const pathOf =
  (kind: string, id: (scene: Scene) => string) =>
  (scene: Scene): string =>
    `/console/inbox/${kind}/${id(scene)}`

const press = async (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).first().click()

const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name }).waitFor()

/** Ines looks; this is what another of the workspace does meanwhile. */
const meanwhile = (scene: Scene, path: string, body: object = {}) =>
  scene.story.send(path.includes('items') ? 'PATCH' : 'POST', path, { body })

const drafts: PicturedState[] = [
  {
    name: 'side-by-side',
    path: pathOf('draft', ({ waits }) => waits.draft),
    async reach(page) {
      await page.getByLabel('The post').waitFor()
      await page.keyboard.press('v')
      await page.locator('.batch-card').first().waitFor()
    },
  },
  {
    name: 'draft-versions',
    path: pathOf('draft', ({ waits }) => waits.byHand),
    async reach(page, scene) {
      await meanwhile(scene, `items/${scene.waits.byHand}`, { body: `Text ${Date.now()}.` })
      await page
        .locator('summary')
        .filter({ hasText: /versions$/ })
        .first()
        .click()
      await page.locator('.version-list summary').last().click()
      await page.locator('.version-list .exact').first().waitFor()
    },
  },
  {
    name: 'draft-conflict',
    path: pathOf('draft', ({ waits }) => waits.draft),
    async reach(page, scene) {
      await page.getByLabel('The post').press('End')
      await page.keyboard.type(' mine')
      await meanwhile(scene, `items/${scene.waits.draft}`, { body: `Theirs ${Date.now()}.` })
      await page.getByRole('heading', { name: /wrote another text/ }).waitFor()
    },
  },
  {
    name: 'draft-approved',
    path: pathOf('draft', ({ waits }) => waits.draft),
    async reach(page, scene) {
      await page
        .getByRole('button', { name: /^Approve \w{3} \d/ })
        .first()
        .waitFor()
      await page.keyboard.press('a')
      await page.locator('.toast-undo').waitFor()
      await scene.story.send('POST', `items/${scene.waits.draft}/reopen`)
    },
  },
]

const others: PicturedState[] = [
  {
    name: 'call-edited',
    path: pathOf('call', ({ waits }) => waits.fetch),
    async reach(page) {
      await press(page, /^Edit( E)?$/)
      await page.getByLabel(/^Url/).waitFor()
    },
  },
  {
    name: 'call-text',
    path: pathOf('call', ({ waits }) => waits.fetch),
    async reach(page, { app: { owner }, waits }) {
      const [call] = await owner`select tool_name, arguments, subject from agent_approval
        where id = ${waits.fetch}`
      const text = '[approval.text]'.padEnd(1_000, 'W')
      const asked = { arguments: { body: text }, subject: { ...call!.subject, text } }
      const put = (columns: object) =>
        owner`update agent_approval set ${owner(columns)} where id = ${waits.fetch}`
      await put({ tool_name: 'growth_create_item', ...asked })
      await page.reload()
      await press(page, /^Edit( E)?$/)
      await page.getByLabel('Text', { exact: true }).waitFor()
      await put(call!)
    },
  },
  {
    name: 'call-json',
    path: pathOf('call', ({ waits }) => waits.call),
    async reach(page) {
      await press(page, /^Edit( E)?$/)
      await press(page, 'Change it as JSON')
      await page.getByLabel('Arguments as JSON').waitFor()
    },
  },
  {
    name: 'refused-post-now',
    path: pathOf('refused', ({ waits }) => waits.refused),
    async reach(page) {
      await press(page, 'Post now')
      await page.getByRole('dialog').waitFor()
    },
  },
]

const frame: PicturedState[] = [
  {
    name: 'paused',
    path: () => '/console/inbox',
    async reach(page, scene) {
      await meanwhile(scene, 'automation/pause-all')
      await page.getByRole('button', { name: 'Resume' }).first().waitFor()
      await meanwhile(scene, 'automation/resume-all')
    },
  },
  {
    name: 'person-menu',
    path: () => '/console/inbox',
    async reach(page) {
      await press(page, /your menu$/)
      await page.getByText('Sign out').waitFor()
    },
  },
  {
    name: 'workspace-menu',
    path: () => '/console/inbox',
    async reach(page) {
      await press(page, /switch to another workspace$/)
      await page.locator('.workspace :popover-open').waitFor()
    },
  },
  {
    name: 'settings-key-made',
    path: () => '/console/settings/keys',
    async reach(page) {
      await press(page, 'Make a key')
      await page
        .getByLabel('Name', { exact: true })
        .fill('[api_key.name] <img src=x onerror=ran()>'.padEnd(120, 'W'))
      await press(page, 'Make the key')
      await page
        .getByText(/is made\. Copy it now/)
        .first()
        .waitFor()
    },
  },
  {
    name: 'settings-key-revoking',
    path: () => '/console/settings/keys',
    async reach(page) {
      await press(page, /^Revoke/)
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'settings-link-ending',
    path: () => '/console/settings/channels',
    async reach(page) {
      await press(page, /^End the link/)
      await dialog(page, 'End this link?')
    },
  },
  {
    name: 'settings-webhook-rotating',
    path: () => '/console/settings/webhook',
    async reach(page) {
      await press(page, 'Rotate the secret')
      await dialog(page, 'Rotate the signing secret?')
    },
  },
  {
    name: 'settings-webhook-disabled',
    path: () => '/console/settings/webhook',
    async reach(page, { app, story }) {
      await app.owner`update webhook_endpoint set status = 'disabled'
        where tenant_id = ${story.tenantId}`
      await page.reload()
      await page.getByRole('button', { name: 'Enable' }).waitFor()
    },
  },
]

export const moreStates: readonly PicturedState[] = [...drafts, ...others, ...frame]
