/**
 * The channels in which people outside the app talk to the agent. Their traits are in
 * src/domain/agent/channel/channel.ts.
 */
export const channelNames = ['email', 'slack', 'whatsapp', 'sms', 'dev'] as const
export type ChannelName = (typeof channelNames)[number]
