/** The pages of the settings, in the order of their list; loaded when they are first shown. */
import type { ComponentType } from 'react'
import { lazyPage } from '../router/lazy-page.tsx'
import { BrowserSettings } from './browser.tsx'

export interface SettingsEntry {
  /** Its last part of the address. */
  page: string
  says: string
  Show: ComponentType
}

const Keys = lazyPage(() => import('./keys/page.tsx').then(({ KeysPage }) => KeysPage))
const Webhook = lazyPage(() => import('./webhook/page.tsx').then(({ WebhookPage }) => WebhookPage))
const Channels = lazyPage(() =>
  import('./channels/page.tsx').then(({ ChannelsPage }) => ChannelsPage),
)

export const settingsPages: SettingsEntry[] = [
  { page: 'keys', says: 'Keys', Show: Keys },
  { page: 'webhook', says: 'Webhook', Show: Webhook },
  { page: 'channels', says: 'Channels', Show: Channels },
  { page: 'browser', says: 'This browser', Show: BrowserSettings },
]
