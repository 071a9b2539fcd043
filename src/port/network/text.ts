import { findLinks } from '#domain/growth/drafting/links'
import { normalForm } from '#kernel/normal-form'

const REST_OF_RUN = /\S*/y
const SCHEME = /https?:\/\/\S+/gi
const SPACES = /\s+/g

/** Drops links with everything attached to them, because networks disagree on where a link ends. */
const withoutLinks = (text: string): string => {
  let kept = ''
  let at = 0
  for (const { start, end } of findLinks(text)) {
    if (start < at) continue
    kept += `${text.slice(at, start)} `
    REST_OF_RUN.lastIndex = end
    at = end + (REST_OF_RUN.exec(text)?.[0].length ?? 0)
  }
  return (kept + text.slice(at)).replace(SCHEME, ' ')
}

/**
 * The part of a text that no network changes: NFC, without links (networks shorten them), white
 * space collapsed, ends trimmed. Posts with equal fingerprints are the same post to the reconciler.
 * Empty for a text of links alone, which therefore identifies nothing.
 */
export const fingerprintText = (text: string): string =>
  withoutLinks(normalForm(text, 'NFC')).replace(SPACES, ' ').trim()
