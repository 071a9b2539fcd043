/** Turns a Markdown text into the messages of a channel. */
import { beginning } from '#kernel/storable'
import type { Channel } from '../channel.ts'
import { cutText } from './cut.ts'
import { devForm, LONGEST_DEV } from './dev.ts'
import type { LayoutStyle } from './layout.ts'
import { LONGEST_MAIL, mailBody, mailForm } from './mail.ts'
import { LONGEST_SLACK, slackForm, slackStyle } from './slack.ts'
import { LONGEST_SMS, smsForm, smsStyle } from './sms.ts'
import { LONGEST_WHATSAPP, whatsappForm, whatsappStyle } from './whatsapp.ts'

export const replyLimits = {
  /** The most messages of one reply: nobody wants more at once. */
  parts: 20,
  /**
   * How many characters one character can become when a channel's form writes it as text: `…`
   * becomes three full stops, `&` five characters.
   */
  growth: 7,
  /** The limit for all mails of a reply together. Beyond it they are sent without HTML. */
  htmlLength: 400_000,
} as const
export const CUT =
  'The rest of this answer is too long for this channel. You can read it in the app.'

export interface MessageParts {
  texts: string[]
  /** The HTML of each part; null if the parts are sent without. */
  html: string[] | null
}

interface Form {
  /** The most characters in a message. */
  longest: number
  partsOf(markdown: string): MessageParts
  /** Undefined: text is written as it is. */
  style?: Pick<LayoutStyle, 'fits' | 'sizeOf' | 'escaped'>
}

const withoutHtml =
  (form: (markdown: string) => string[]) =>
  (markdown: string): MessageParts => ({ texts: form(markdown), html: null })

const mails = (markdown: string): MessageParts => {
  const bodies = mailForm(markdown).map(mailBody)
  const html = bodies.map((body) => body.html)
  return {
    texts: bodies.map(({ text }) => text),
    html: html.join('').length > replyLimits.htmlLength ? null : html,
  }
}

const forms: Record<Channel, Form> = {
  slack: { longest: LONGEST_SLACK, partsOf: withoutHtml(slackForm), style: slackStyle },
  whatsapp: { longest: LONGEST_WHATSAPP, partsOf: withoutHtml(whatsappForm), style: whatsappStyle },
  sms: { longest: LONGEST_SMS, partsOf: withoutHtml(smsForm), style: smsStyle },
  dev: { longest: LONGEST_DEV, partsOf: withoutHtml(devForm) },
  email: { longest: LONGEST_MAIL, partsOf: mails },
}

/** As much of a text as its messages can hold, and whether that cuts it. */
const cutToMost = ({ longest }: Form, markdown: string): { text: string; isCut: boolean } => {
  const text = beginning(markdown, replyLimits.parts * longest)
  return { text, isCut: text.length < markdown.length }
}

/** Takes a while to compute, so it must not run on the event loop. */
export const partsOf = (channel: Channel, markdown: string): MessageParts => {
  const form = forms[channel]
  const { text, isCut } = cutToMost(form, markdown)
  const { texts, html } = form.partsOf(text)
  return {
    texts: isCut ? [...texts, CUT] : texts,
    html: isCut || texts.length > replyLimits.parts ? null : html,
  }
}

/** The same, but the Markdown is shown as written: nothing is parsed. */
export const plainPartsOf = (channel: Channel, markdown: string): MessageParts => {
  const form = forms[channel]
  const { text, isCut } = cutToMost(form, markdown)
  const { style, longest } = form
  const texts = cutText(text, longest).flatMap((piece) => {
    if (!style) return [piece]
    const written = style.escaped(piece)
    return style.fits(style.sizeOf(written))
      ? [written]
      : cutText(piece, Math.floor(longest / replyLimits.growth)).map(style.escaped)
  })
  return { texts: isCut ? [...texts, CUT] : texts, html: null }
}
