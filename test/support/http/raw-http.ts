import { connect } from 'node:net'

/**
 * Sends raw bytes and returns the reply up to the end of the connection, for requests that no
 * client would make.
 */
export const sendRaw = async (url: string, request: string): Promise<string> => {
  const { hostname, port } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname, () => socket.write(request))
  let reply = ''
  socket.setEncoding('utf8')
  socket.on('data', (text) => {
    reply += text
  })
  socket.on('error', reject)
  socket.on('close', () => resolve(reply))
  return promise.finally(() => socket.destroy())
}
