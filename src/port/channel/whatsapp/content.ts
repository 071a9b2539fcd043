/** What a WhatsApp message says, by its type. */

import { asObject, type JsonObject, objectsIn, readId, storableText } from '#port/fields'
import type { Attachment } from '../channel.ts'
import { passedOn } from '../passed-on.ts'

export interface Content {
  text: string
  attachments: Attachment[]
}

const contentLimits = {
  textLength: 65_536,
  titleLength: 1_024,
  nameLength: 255,
  contacts: 20,
} as const
const MEDIA_ID = /^\d{1,40}$/

const MEDIA = ['image', 'document', 'audio', 'video', 'sticker']
/**
 * Types with which nobody asks for anything: reactions, edits, withdrawals, changes of a number,
 * and a chat that was merely opened.
 */
const SILENT = ['reaction', 'edit', 'revoke', 'system', 'ephemeral', 'request_welcome']

const words = (text: string): Content => ({ text, attachments: [] })

const mediaOf = (kind: string, media: JsonObject): Content => {
  const id = readId(media.id, MEDIA_ID)
  const attachment: Attachment = {
    name: storableText(media.filename, contentLimits.nameLength) ?? kind,
    mimeType:
      storableText(media.mime_type, 127)?.split(';')[0]?.trim() ?? 'application/octet-stream',
    byteSize: null,
    ref: id === undefined ? null : { id },
  }
  return {
    text: storableText(media.caption, contentLimits.textLength) ?? '',
    attachments: [attachment],
  }
}

/**
 * What a person picked, in the words that the person saw. The rest of what a button carries is for
 * programs.
 */
const pickedOf = ({ button_reply, list_reply, nfm_reply }: JsonObject): Content | undefined => {
  const picked = asObject(button_reply ?? list_reply)
  const text =
    storableText(picked.title, contentLimits.titleLength) ??
    storableText(asObject(nfm_reply).body, contentLimits.titleLength)
  return text === undefined ? undefined : words(text)
}

const locationOf = ({ name, address, latitude, longitude }: JsonObject): Content => {
  const place = [
    storableText(name, contentLimits.titleLength),
    storableText(address, contentLimits.titleLength),
  ].flatMap((part) => part ?? [])
  const point =
    typeof latitude === 'number' && typeof longitude === 'number'
      ? [`(${latitude}, ${longitude})`]
      : []
  return words(`Location: ${[...place, ...point].join(' ')}`.trim())
}

const contactOf = ({ name, phones, emails }: JsonObject): string => {
  const all = [
    asObject(name).formatted_name,
    ...objectsIn(phones, contentLimits.contacts).map(({ phone }) => phone),
    ...objectsIn(emails, contentLimits.contacts).map(({ email }) => email),
  ]
  return `Contact: ${all.flatMap((part) => storableText(part, contentLimits.nameLength) ?? []).join(', ')}`.trim()
}

const markForwarded = ({ text, attachments }: Content): Content => ({
  text: '',
  attachments: text === '' ? attachments : [...attachments, passedOn(text)],
})

/** Undefined if the message asks nothing of us. */
export const parseContent = (message: JsonObject): Content | undefined => {
  const content = ownContentOf(message)
  const { forwarded: once, frequently_forwarded: often } = asObject(message.context)
  return content && (once === true || often === true) ? markForwarded(content) : content
}

const ownContentOf = (message: JsonObject): Content | undefined => {
  const kind = typeof message.type === 'string' ? message.type : ''
  if (SILENT.includes(kind)) return undefined
  const inside = asObject(message[kind])
  if (MEDIA.includes(kind)) return mediaOf(kind, inside)
  switch (kind) {
    case 'text': {
      const text = storableText(inside.body, contentLimits.textLength)?.trim()
      return text ? words(text) : undefined
    }
    case 'button':
      return words(storableText(inside.text, contentLimits.titleLength) ?? UNREADABLE)
    case 'interactive':
      return pickedOf(inside) ?? words(UNREADABLE)
    case 'location':
      return locationOf(inside)
    case 'contacts':
      return words(
        objectsIn(message.contacts, contentLimits.contacts).map(contactOf).join('\n') || UNREADABLE,
      )
    default:
      return words(UNREADABLE)
  }
}

/**
 * Stands for polls, orders, and whatever WhatsApp itself calls unsupported. The person still
 * expects an answer.
 */
const UNREADABLE = '(a message of a kind that cannot be read here)'
