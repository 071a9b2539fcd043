/**
 * The addresses of the channels' providers: their usual ones, unless a test or a proxy stands in
 * for them.
 */
import { parseAddress, refuseValue } from './values.ts'

const usual = {
  slack: 'https://slack.com/api',
  slack_files: 'https://files.slack.com',
  whatsapp: 'https://graph.facebook.com/v25.0',
  twilio: 'https://api.twilio.com',
  resend: 'https://api.resend.com',
  mailgun: 'https://api.mailgun.net',
  mailgun_eu: 'https://api.eu.mailgun.net',
}

/** Without a trailing slash. */
export type ChannelUrls = Readonly<Record<keyof typeof usual, string>>

const FORM = `JSON such as {"slack":"http://127.0.0.1:9000/api"}, with any of ${Object.keys(usual).join(', ')}`

const refuse = (text: string): never => refuseValue('CHANNEL_URLS', FORM, text)

export const channelUrlsOf = (text: string): ChannelUrls => {
  let urls: unknown
  try {
    urls = JSON.parse(text)
  } catch {
    return refuse(text)
  }
  if (typeof urls !== 'object' || urls === null || Array.isArray(urls)) return refuse(text)
  const given = Object.entries(urls).map(([name, url]) => {
    if (!(name in usual) || typeof url !== 'string') return refuse(text)
    return [name, parseAddress(`CHANNEL_URLS.${name}`, url)]
  })
  return { ...usual, ...Object.fromEntries(given) }
}
