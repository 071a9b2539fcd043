/** Normalises texts that people and programs write, before they are stored. */

import { refuseField } from '#kernel/errors'
import { normalForm } from '#kernel/normal-form'

const LINE_END = /\r\n|[\r\u0085\u2028\u2029]/g
/** With newlines as the only line ends. */
export const withNewlines = (text: string): string => text.replace(LINE_END, '\n')

/** All control characters but tab and newline. */
const CONTROL = /[\p{Cc}--[\t\n]]/v

/** Why a text with newlines cannot be stored: its first control character. */
export const writtenFault = (lines: string): string | undefined => {
  const control = CONTROL.exec(lines)?.[0]
  if (control === undefined) return undefined
  const name = `U+${control.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  return `contains ${name}, a control character; of those, only tabs and line breaks are allowed`
}

/**
 * The text with newlines as its only line ends. Throws `invalid_input`, naming the first control
 * character.
 */
export const writtenText = (text: string, path: string): string => {
  const lines = withNewlines(text)
  const fault = writtenFault(lines)
  return fault === undefined ? lines : refuseField(path, fault)
}

/**
 * The texts, trimmed, without those that differ from an earlier one only by case or Unicode form.
 */
export const tidyTags = (tags: readonly string[]): string[] => {
  const kept = new Map<string, string>()
  for (const tag of tags) {
    const form = normalForm(tag, 'NFC').trim()
    const folded = form.toLowerCase()
    if (!kept.has(folded)) kept.set(folded, form)
  }
  return [...kept.values()]
}
