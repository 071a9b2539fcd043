import { version } from '../../../package.json'

/** How the server names itself to clients. */
export const serverInfo = { name: 'tendril', title: 'Tendril', version }
