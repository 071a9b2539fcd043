/** Markup whose values cannot become markup. */

const MARKUP = Symbol('markup')

/** Made by `html` alone. */
export interface Html {
  readonly [MARKUP]: string
}

type Value = Html | string | number | undefined | readonly Html[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

const textOf = (value: Value): string => {
  if (value === undefined) return ''
  if (typeof value !== 'object') return escaped(String(value))
  return MARKUP in value ? value[MARKUP] : value.map(textOf).join('')
}

/** A template: values are escaped, for text and for attributes in double quotes. `undefined` is nothing. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html => ({
  [MARKUP]: parts.reduce((text, part, index) => text + textOf(values[index - 1]) + part),
})

/** For what is sent; nothing else reads markup. */
export const markupOf = (page: Html): string => page[MARKUP]
