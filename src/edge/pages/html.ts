/** HTML templates that escape their values. */

const MARKUP = Symbol('markup')

/** Made by `html` alone. */
export interface Html {
  readonly [MARKUP]: string
}

type Value = Html | string | number | undefined | readonly Html[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

const textOf = (value: Value): string => {
  if (value === undefined) return ''
  if (typeof value !== 'object') return escapeHtml(String(value))
  return MARKUP in value ? value[MARKUP] : value.map(textOf).join('')
}

/** A template. Escapes values, for text and for attributes in double quotes; `undefined` becomes nothing. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html => ({
  [MARKUP]: parts.reduce((text, part, index) => text + textOf(values[index - 1]) + part),
})

/** The finished page as text. */
export const markupOf = (page: Html): string => page[MARKUP]
