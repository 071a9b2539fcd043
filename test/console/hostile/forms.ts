/** The fields of the console's forms, and hostile texts in each that a state shows. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { hostileText, hostileWords, type Round } from './texts.ts'

const LIST = 'Search what waits'

/** By the file that has them, as a reader of the page calls them. */
const FORMS: Record<string, readonly string[]> = {
  'frame/palette.tsx': ['dialog: Places and commands; begin with > for commands alone'],
  'inbox/ask-for-address.tsx': ['dialog: Its address, if you have it'],
  'inbox/call/arguments.tsx': ['an argument'],
  'inbox/call/body.tsx': ['Text', 'Arguments as JSON'],
  'inbox/draft/comments.tsx': ['Comment for your team'],
  'inbox/draft/editor.tsx': ['The post', 'The reply'],
  'inbox/draft/foot.tsx': ['dialog: What to change'],
  'inbox/draft/reasons.tsx': ['Another reason'],
  'inbox/draft/tag-list.tsx': ['Add a tag'],
  'inbox/filters.tsx': [LIST],
  'inbox/reply/pane.tsx': ['Your text, in Markdown'],
  'inbox/write-one.tsx': ['dialog: The post'],
  'parts/fields.tsx': ['Name', 'Address'],
  'parts/reason-dialog.tsx': ['dialog: Reason (optional)'],
}

export const formFields: readonly string[] = Object.values(FORMS).flat()

const CONSOLE = join(import.meta.dir, '../../../src/console')
/** Those with `TextField` are of `parts/fields.tsx`. */
const FIELD = /<textarea|<input(?!\s+(ref=\S+\s+)?type=("checkbox"|"radio"|\{type\}))/

/** Files with fields that are not in the table, and files of the table without one. */
export const unlistedForms = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const file of new Bun.Glob('**/*.tsx').scan(CONSOLE))
    if (FIELD.test(await Bun.file(join(CONSOLE, file)).text())) found.push(file)
  return [...new Set(found).symmetricDifference(new Set(Object.keys(FORMS)))]
}

/** Marks each field with a number; an argument of a call is called as its tool has it. */
const MARK = `(() => {
  const scope = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
  const nameOf = (one) => {
    const says = one.labels[0]?.innerText || one.ariaLabel || one.name
    const isArgument = one.closest('.editing') && !['text', 'arguments'].includes(one.name)
    return isArgument ? 'an argument' : says.trim().split('\\n', 1)[0]
  }
  return [...scope.querySelectorAll('textarea, input:not([type=checkbox], [type=radio])')]
    .filter((one) => one.checkVisibility() && !one.readOnly && !one.disabled)
    .map((one, at) => {
      one.dataset.at = at
      const name = (one.closest('dialog') ? 'dialog: ' : '') + nameOf(one)
      return { at, name, most: one.maxLength < 0 ? 1e9 : one.maxLength }
    })
})()`

/** Fills what the page shows, as far as it takes it, and returns how the fields are called. */
export const fillForms = async (page: Page, round: Round, asksList: boolean): Promise<string[]> => {
  const marked = await page.evaluate<{ at: number; name: string; most: number }[]>(MARK)
  // Another list is another page.
  const fields = marked.filter(({ name }) => asksList || name !== LIST)
  for (const { at, name, most } of fields) {
    const text = name === LIST ? hostileWords(round) : hostileText(round, 'form.field')
    await page.locator(`[data-at="${at}"]`).fill(round === 'blank' ? '' : text.slice(0, most))
  }
  return fields.map(({ name }) => name)
}

/** Opens what is folded away. */
export const unfoldAll = (page: Page): Promise<unknown> =>
  page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true
    for (const one of document.querySelectorAll('.others button'))
      if (one.innerText === 'Show all') one.click()`)
